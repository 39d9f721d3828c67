import { canonicalBytes, canonicalJson } from '../../src/domain/json/canonical-json.js';
import type { BundleScope, ConsistencyPart, KeyStatement } from '../../src/ledger/core/bundle/bundle-format.js';
import {
  composeBundle,
  manifestOf,
  signedParts,
  type BundleContents,
} from '../../src/ledger/core/bundle/compose-bundle.js';
import { writeContainer } from '../../src/ledger/core/bundle/container.js';
import { entryLine, hexOf, type BundleEntry } from '../../src/ledger/core/bundle/entry-line.js';
import { signCheckpoint, withSignature } from '../../src/ledger/core/notes/checkpoint.js';
import { cosignatureOf, type NoteSigner } from '../../src/ledger/core/notes/note-signing.js';
import { formatVerifierKey } from '../../src/ledger/core/notes/verifier-key.js';
import { parseNote } from '../../src/ledger/core/notes/signed-note.js';
import { consistencyProof } from '../../src/ledger/core/tree/consistency.js';
import { coverProof } from '../../src/ledger/core/tree/cover.js';
import { LeafNodes, rootAt } from '../../src/ledger/core/tree/node-source.js';
import type { BundleManifest } from '../../src/ledger/core/bundle/bundle-format.js';
import type { Trust } from '../../src/ledger/core/verify/trust.js';
import { LOG, ORIGIN, WITNESS } from './evidence-keys.js';
import { commitmentOf, leafOf, POLICY_SCHEMA, POLICY_SET, SHOWN, type LogEvent } from './evidence-story.js';

export const ALWAYS = { fromSize: 0, toSize: null, fromTime: '2030-01-01T00:00:00.000Z', toTime: null } as const;

export interface BundleOptions {
  readonly tenant?: string | null;
  readonly scope?: BundleScope;
  /** Sizes of the checkpoints; the last is the tree of the bundle. */
  readonly sizes?: readonly number[];
  readonly signer?: NoteSigner;
  readonly origin?: string;
  readonly witness?: boolean;
  /** The entries that are shown; by default those of the scope. */
  readonly positions?: readonly number[];
  /** Payloads that the reader does not get. */
  readonly withheld?: readonly number[];
  readonly contents?: (contents: BundleContents) => BundleContents;
}

/** The bundle of a log, as an honest exporter makes it; `contents` is what a dishonest one does before signing. */
export function partsOf(log: readonly LogEvent[], options: BundleOptions = {}): Map<string, Uint8Array> {
  const contents = contentsOf(log, options);
  return composeBundle(options.contents?.(contents) ?? contents, options.signer ?? LOG);
}

export const bundleOf = (log: readonly LogEvent[], options: BundleOptions = {}): Uint8Array =>
  writeContainer(partsOf(log, options));

export function contentsOf(log: readonly LogEvent[], options: BundleOptions): BundleContents {
  const { signer = LOG, origin = ORIGIN, tenant = 'acme', sizes = [log.length] } = options;
  const treeSize = sizes.at(-1) ?? log.length;
  const scope = options.scope ?? { kind: 'range', from: 0, to: treeSize };
  const positions = options.positions ?? (scope.kind === 'range' ? span(scope.from, scope.to) : span(0, treeSize));
  const source = new LeafNodes(log.map(leafOf));
  const noteAt = (size: number): string =>
    signCheckpoint({ origin, size, root: rootAt(source, size), extensions: [] }, [signer]);
  const entries = positions.map((position) => entryLine(entryAt(log, position, tenant, options.withheld ?? [])));
  return {
    origin,
    createdAt: '2031-01-02T00:00:00.000Z',
    tenant,
    scope,
    treeSize,
    entries: Buffer.from(entries.join(''), 'utf8'),
    proof: coverProof(source, positions, treeSize),
    checkpoints: sizes.map((size) => (options.witness === true ? cosigned(noteAt(size)) : noteAt(size))),
    consistency: sizes.slice(1).map((second, at) => consistencyPart(source, sizes[at] as number, second)),
    keys: keysOf(signer),
    objects: log.length === 0 ? [] : objectsFor(log, positions, tenant, options.withheld ?? []),
    snapshots: [],
    report: '<!doctype html>\n<title>Evidence</title>\n',
    readme: 'Check this bundle with: countersign verify\n',
  };
}

export function consistencyPart(source: LeafNodes, first: number, second: number): ConsistencyPart {
  return { first, second, hashes: first > second ? [] : consistencyProof(source, first, second).map(hexOf) };
}

export function cosigned(note: string, witness: NoteSigner = WITNESS): string {
  return withSignature(note, cosignatureOf(parseNote(note)?.text ?? '', witness, 1_925_000_000));
}

function keysOf(signer: NoteSigner): KeyStatement[] {
  return [
    { key: formatVerifierKey(signer.key), use: 'log', ...ALWAYS },
    { key: formatVerifierKey(WITNESS.key), use: 'witness', ...ALWAYS },
  ];
}

function entryAt(
  log: readonly LogEvent[],
  position: number,
  tenant: string | null,
  withheld: readonly number[],
): BundleEntry {
  const event = log[position] as LogEvent;
  const { envelope, payload, salt } = event;
  if (tenant !== null && envelope.tenant !== tenant) return { kind: 'hidden', position, leafHash: leafOf(event) };
  const commitment = commitmentOf(event);
  if (withheld.includes(position)) return { kind: 'withheld', position, envelope, commitment, reason: 'redacted' };
  return { kind: 'open', position, envelope, commitment, salt, payloadText: canonicalJson(payload) };
}

/** Only what some shown payload refers to. */
function objectsFor(
  log: readonly LogEvent[],
  positions: readonly number[],
  tenant: string | null,
  withheld: readonly number[],
): Uint8Array[] {
  const open = positions
    .filter((position) => !withheld.includes(position))
    .map((position) => log[position] as LogEvent)
    .filter(({ envelope }) => tenant === null || envelope.tenant === tenant);
  const has = (type: string): boolean => open.some(({ envelope }) => envelope.eventType === type);
  const objects = has('policy.decided') ? [POLICY_SET, POLICY_SCHEMA] : [];
  return [...objects, ...(has('approval.required') ? [SHOWN] : [])].map((object) => canonicalBytes(object));
}

/** The parts with changes that whoever made the bundle signs for. */
export function resigned(
  parts: ReadonlyMap<string, Uint8Array>,
  change: (parts: Map<string, Uint8Array>, manifest: BundleManifest) => BundleManifest | undefined,
  signer: NoteSigner = LOG,
): Uint8Array {
  const changed = new Map(parts);
  const manifest = JSON.parse(Buffer.from(parts.get('manifest.json') ?? []).toString('utf8')) as BundleManifest;
  const about = change(changed, manifest) ?? manifest;
  changed.delete('manifest.json');
  changed.delete('manifest.note');
  return writeContainer(signedParts(manifestOf(about, changed), changed, signer));
}

export const TRUST: Trust = { log: [{ key: LOG.key }], witnesses: [] };

export const span = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, at) => from + at);
