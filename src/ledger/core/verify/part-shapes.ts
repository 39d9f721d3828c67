import type { Digest } from '../../../domain/digests/digests.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../domain/json/json-value.js';
import {
  BUNDLE_FORMAT,
  type BundleManifest,
  type BundleScope,
  type ConsistencyPart,
  type KeyStatement,
  type PartEntry,
  type Snapshot,
} from '../bundle/bundle-format.js';

/** Readers of the JSON parts: exactly the members of the format, or null. */

const DIGEST = /^sha256:[0-9a-f]{64}$/;
const HASH = /^[0-9a-f]{64}$/;
const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/;

export function readManifest(value: JsonValue): BundleManifest | null {
  if (!hasExactly(value, ['createdAt', 'format', 'origin', 'parts', 'scope', 'snapshots', 'tenant', 'treeSize']))
    return null;
  const { createdAt, format, origin, tenant, treeSize } = value;
  const scope = readScope(value['scope']);
  const parts = readList(value['parts'], readPart);
  const snapshots = readList(value['snapshots'], readSnapshot);
  if (format !== BUNDLE_FORMAT || typeof origin !== 'string' || !isInstant(createdAt)) return null;
  if ((tenant !== null && typeof tenant !== 'string') || !isCount(treeSize)) return null;
  if (scope === null || parts === null || snapshots === null || !isSorted(parts)) return null;
  return { format, origin, createdAt, tenant, scope, treeSize, parts, snapshots };
}

function readScope(value: JsonValue | undefined): BundleScope | null {
  if (hasExactly(value, ['kind', 'of'])) {
    const { kind, of } = value;
    return kind === 'selection' && typeof of === 'string' ? { kind, of } : null;
  }
  if (!hasExactly(value, ['from', 'kind', 'to'])) return null;
  const { from, kind, to } = value;
  return kind === 'range' && isCount(from) && isCount(to) && from <= to ? { kind, from, to } : null;
}

function readPart(value: JsonValue): PartEntry | null {
  if (!hasExactly(value, ['bytes', 'digest', 'name'])) return null;
  const { bytes, digest, name } = value;
  return isCount(bytes) && isDigest(digest) && typeof name === 'string' ? { bytes, digest, name } : null;
}

function readSnapshot(value: JsonValue): Snapshot | null {
  if (!hasExactly(value, ['digest', 'name'])) return null;
  const { digest, name } = value;
  return isDigest(digest) && typeof name === 'string' ? { digest, name } : null;
}

export function readProof(value: JsonValue): readonly Uint8Array[] | null {
  return hasExactly(value, ['hashes']) ? readList(value['hashes'], readHash) : null;
}

export function readConsistency(value: JsonValue): readonly ConsistencyPart[] | null {
  return readList(value, (item) => {
    if (!hasExactly(item, ['first', 'hashes', 'second'])) return null;
    const { first, second } = item;
    const hashes = readList(item['hashes'], (text) => (typeof text === 'string' && HASH.test(text) ? text : null));
    return isCount(first) && isCount(second) && hashes !== null ? { first, second, hashes } : null;
  });
}

export function readKeys(value: JsonValue): readonly KeyStatement[] | null {
  return readList(value, (item) => {
    if (!hasExactly(item, ['fromSize', 'fromTime', 'key', 'toSize', 'toTime', 'use'])) return null;
    const { fromSize, fromTime, key, toSize, toTime, use } = item;
    const isWindow = isCount(fromSize) && isInstant(fromTime) && orNull(toSize, isCount) && orNull(toTime, isInstant);
    if (!isWindow || typeof key !== 'string' || (use !== 'log' && use !== 'witness')) return null;
    return { fromSize, fromTime, key, toSize, toTime, use };
  });
}

export function readHash(value: JsonValue): Uint8Array | null {
  return typeof value === 'string' && HASH.test(value) ? new Uint8Array(Buffer.from(value, 'hex')) : null;
}

/** The text, or the empty one for whatever else stands in its place. */
export const asText = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');

/** The number, or -1 for whatever else stands in its place. */
export const asNumber = (value: JsonValue | undefined): number => (typeof value === 'number' ? value : -1);

export const isDigest = (value: JsonValue | undefined): value is Digest =>
  typeof value === 'string' && DIGEST.test(value);

export const isCount = (value: JsonValue | undefined): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

const isInstant = (value: JsonValue | undefined): value is string => typeof value === 'string' && INSTANT.test(value);

function orNull<T extends JsonValue>(
  value: JsonValue | undefined,
  is: (value: JsonValue | undefined) => value is T,
): value is T | null {
  return value === null || is(value);
}

function readList<T>(value: JsonValue | undefined, read: (item: JsonValue) => T | null): readonly T[] | null {
  if (!Array.isArray(value)) return null;
  const items = (value as readonly JsonValue[]).map(read);
  return items.includes(null) ? null : (items as T[]);
}

function hasExactly(value: JsonValue | undefined, names: readonly string[]): value is JsonObject {
  return isJsonObject(value) && Object.keys(value).sort().join() === names.join();
}

function isSorted(parts: readonly PartEntry[]): boolean {
  return parts.every(({ name }, at) => at === 0 || (parts[at - 1] as PartEntry).name < name);
}
