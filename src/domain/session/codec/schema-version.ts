import { pointerFrom } from '../../json/json-pointer.js';
import { refuseField } from './codec-result.js';
import type { FieldPath } from './field-reader.js';

/** Where a version stands in a file, and the newest one this program reads. */
export interface VersionedRoot {
  readonly path: FieldPath;
  readonly found: unknown;
  readonly current: number;
}

/**
 * Refuses a version from the future before anything else is looked at, then one that is no version. An absent one is 0: the
 * time before versions were written.
 */
export function requireReadable(roots: readonly VersionedRoot[]): void {
  for (const { path, found, current } of roots) {
    if (!isVersion(found) || found <= current) continue;
    const pointer = pointerFrom(path);
    const message = `${pointer} is ${found}; this program reads up to ${current}. A newer version is required.`;
    refuseField({ code: 'schema_version_unsupported', message, path: pointer, found, current });
  }
  for (const { path, found } of roots) {
    if (found === undefined || isVersion(found)) continue;
    const pointer = pointerFrom(path);
    refuseField({ code: 'schema_version_invalid', message: `${pointer} is not a version number.`, path: pointer });
  }
}

export function versionOf(found: unknown): number {
  return isVersion(found) ? found : 0;
}

/** Finite and not only safe: whoever writes 1e300 means the future, and `1e400` is no number any more. */
const isVersion = (found: unknown): found is number => Number.isInteger(found) && (found as number) >= 0;
