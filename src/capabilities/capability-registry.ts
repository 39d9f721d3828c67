import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { jsonDigest } from '../domain/digests/digests.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { ErrorCode } from '../domain/errors/error-codes.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import { deepFrozen } from './json-copy.js';
import type { Capability, Manifest } from './manifest.js';
import { MANIFEST_BYTES_MAX } from './manifest-yaml.js';
import type { ManifestSurroundings } from './manifest-rules.js';
import { parseManifest } from './parse-manifest.js';

const FILES_MAX = 1_000;

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The capabilities in force in this process: one version of each name. It never changes; a reload makes a new one. */
export class CapabilityRegistry {
  private readonly byName: ReadonlyMap<string, Capability>;

  /** Throws a plain `Error` when two capabilities have one name. */
  constructor(capabilities: readonly Capability[]) {
    const sorted = capabilities.toSorted((left, right) => (left.id < right.id ? -1 : 1));
    this.byName = new Map(sorted.map((capability) => [capability.manifest.name, capability]));
    if (this.byName.size < capabilities.length) throw new Error('two capabilities in force have one name');
  }

  /** By name alone, undefined when none of that name is in force. */
  get(name: string): Capability | undefined {
    return this.byName.get(name);
  }

  /** By `name` or `name@version`, or the code that says what is wrong with it. */
  resolve(reference: string): Capability | Extract<ErrorCode, 'capability_unknown' | 'capability_version_unknown'> {
    const at = reference.indexOf('@');
    const capability = this.byName.get(at === -1 ? reference : reference.slice(0, at));
    if (capability === undefined) return 'capability_unknown';
    return at === -1 || reference.slice(at + 1) === capability.manifest.version
      ? capability
      : 'capability_version_unknown';
  }

  /** In order of name. */
  list(): readonly Capability[] {
    return [...this.byName.values()];
  }
}

/**
 * Loads every `*.yaml` of a directory. Nothing is in force unless everything is right: throws `CountersignError` `invalid_manifest` whose
 * `problems` are all of all files, as `file:line /pointer: message`.
 */
export async function loadCapabilities(dir: string, surroundings: ManifestSurroundings): Promise<CapabilityRegistry> {
  const problems: string[] = [];
  const loaded: { file: string; capability: Capability }[] = [];
  for (const file of await manifestFiles(dir, problems)) {
    const text = await readText(join(dir, file));
    if (text === null) {
      problems.push(
        `${file}: must be a readable UTF-8 text of at most ${MANIFEST_BYTES_MAX} bytes, without a byte order mark`,
      );
      continue;
    }
    const parsed = parseManifest(text, surroundings);
    if (parsed.ok) loaded.push({ file, capability: capabilityOf(parsed) });
    else
      problems.push(
        ...parsed.problems.map(
          ({ line, pointer, message }) => `${file}${line === null ? '' : `:${line}`} ${pointer}: ${message}`,
        ),
      );
  }
  problems.push(...repeatedNames(loaded), ...compensationProblems(loaded));
  if (problems.length > 0) {
    throw new CountersignError('invalid_manifest', `The capability manifests have problems:\n${problems.join('\n')}`, {
      problems,
    });
  }
  return new CapabilityRegistry(loaded.map(({ capability }) => capability));
}

/**
 * SHA-256 of the canonical normalised manifest: it changes with every change of meaning, the address of the upstream included, and with
 * nothing else. So nothing that was judged for one address is ever sent to another.
 */
export function manifestDigest(manifest: Manifest): string {
  const { cancel, compensation, ...rest } = manifest;
  // Keys that came later are part of it only where they are used, so that what is pinned stays what it was.
  const later = { ...(cancel === null ? {} : { cancel }), ...(compensation === null ? {} : { compensation }) };
  return jsonDigest({ ...rest, ...later } as unknown as JsonObject);
}

function capabilityOf({ manifest, input, output }: Omit<Capability, 'id' | 'manifestDigest'>): Capability {
  const id = `${manifest.name}@${manifest.version}`;
  const frozen = deepFrozen(manifest as unknown as JsonValue) as unknown as Manifest;
  return Object.freeze({ manifest: frozen, id, manifestDigest: manifestDigest(manifest), input, output });
}

async function manifestFiles(dir: string, problems: string[]): Promise<readonly string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => null);
  if (entries === null) {
    problems.push('the folder of the capability manifests cannot be read');
    return [];
  }
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
  for (const name of files) {
    if (/\.(?:yml|json)$/i.test(name)) problems.push(`${name}: would not be read: manifests end in .yaml`);
  }
  const manifests = files.filter((name) => name.endsWith('.yaml'));
  if (manifests.length > FILES_MAX) problems.push(`at most ${FILES_MAX} manifests`);
  return manifests.slice(0, FILES_MAX);
}

async function readText(path: string): Promise<string | null> {
  try {
    const bytes = await readFile(path);
    if (bytes.byteLength > MANIFEST_BYTES_MAX) return null;
    const text = UTF8.decode(bytes);
    return text.startsWith('\ufeff') ? null : text;
  } catch {
    return null;
  }
}

function* repeatedNames(loaded: readonly { file: string; capability: Capability }[]): Generator<string> {
  const first = new Map<string, { file: string; capability: Capability }>();
  for (const item of loaded) {
    const { name, version } = item.capability.manifest;
    const earlier = first.get(name);
    if (earlier === undefined) first.set(name, item);
    else if (earlier.capability.manifest.version === version)
      yield `${item.file} /name: ${earlier.file} has this name and version too`;
    else
      yield `${item.file} /name: ${earlier.file} has another version of this name, and one version of a name is in force at a time`;
  }
}

/** What undoes a call is a capability in force, and another one. */
function* compensationProblems(loaded: readonly { file: string; capability: Capability }[]): Generator<string> {
  const names = new Set(loaded.map(({ capability }) => capability.manifest.name));
  for (const { file, capability } of loaded) {
    const named = capability.manifest.compensation?.capability;
    if (named === undefined) continue;
    if (named === capability.manifest.name) yield `${file} /compensation/capability: a capability does not undo itself`;
    else if (!names.has(named)) yield `${file} /compensation/capability: no such capability is declared`;
  }
}
