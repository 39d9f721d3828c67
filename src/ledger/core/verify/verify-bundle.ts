import { PARTS, type BundleManifest } from '../bundle/bundle-format.js';
import { readContainer, type BundleParts } from '../bundle/container.js';
import { approvalCheck } from './check-approvals.js';
import { causeCheck } from './check-causes.js';
import { checkCheckpoints, readCheckpoints } from './check-checkpoints.js';
import { checkManifestNote } from './check-manifest.js';
import { objectCheck } from './check-objects.js';
import { streamCheck, tenantCheck } from './check-streams.js';
import { unitCheck } from './check-units.js';
import { checkKept, checkWitnesses } from './check-witnesses.js';
import { readEntries, type KnownLeaves } from './entry-lines.js';
import { Findings, type Finding, type Statement } from './findings.js';
import { readConsistency, readKeys, readManifest, readProof } from './part-shapes.js';
import { checkParts, checkTexts, readJson } from './read-parts.js';
import { TreeFacts } from './tree-facts.js';
import { KeyBook, type Trust } from './trust.js';

/** What verifying a bundle tells. */
export interface BundleVerdict {
  /** Empty when everything that can be checked is right. In the order in which they were found. */
  readonly findings: readonly Finding[];
  /** Findings beyond the first hundred of a code. */
  readonly findingsLeftOut: number;
  /** What holds of a good bundle all the same. */
  readonly statements: readonly Statement[];
  /** What the bundle says it is; null when that cannot be read. */
  readonly manifest: BundleManifest | null;
  readonly entries: number;
}

/**
 * Verifies an evidence bundle offline, from its bytes and what the verifier brings along. Never throws on any bytes. About 15 µs per entry;
 * keeps some hundred bytes per entry in memory besides the bundle itself.
 */
export function verifyBundle(bytes: Uint8Array, trust: Trust): BundleVerdict {
  const findings = new Findings();
  const container = readContainer(bytes);
  if (!container.ok) {
    findings.add('container_unreadable', `The container cannot be read: ${container.problem}.`);
    return { findings: findings.list, findingsLeftOut: 0, statements: [], manifest: null, entries: 0 };
  }
  if (container.differsAt !== null) {
    const message = `Byte ${container.differsAt} is not that of the one container these parts have.`;
    findings.add('container_not_canonical', message);
  }
  return judgeParts(container.parts, trust, findings);
}

/** The same for parts that were taken out of their container. */
export function verifyParts(parts: BundleParts, trust: Trust): BundleVerdict {
  return judgeParts(parts, trust, new Findings());
}

function judgeParts(parts: BundleParts, trust: Trust, findings: Findings): BundleVerdict {
  const manifest = readJson(parts, PARTS.manifest, findings, readManifest);
  if (manifest === null) {
    return { findings: findings.list, findingsLeftOut: findings.leftOut, statements: [], manifest, entries: 0 };
  }
  checkParts(parts, manifest, findings);
  checkTexts(parts, findings);
  const keys = new KeyBook(trust, readJson(parts, PARTS.keys, findings, readKeys) ?? []);
  checkManifestNote(parts, manifest, keys, findings);
  const leaves = readLeaves(parts, manifest, findings);
  const isWitnessed = judgeTree(parts, manifest, { trust, keys, leaves }, findings);
  return {
    findings: findings.list,
    findingsLeftOut: findings.leftOut,
    statements: statementsOf(manifest, leaves, isWitnessed),
    manifest,
    entries: leaves.positions.length,
  };
}

function readLeaves(parts: BundleParts, manifest: BundleManifest, findings: Findings): KnownLeaves {
  const { scope, tenant } = manifest;
  const checks = [
    tenantCheck(tenant, findings),
    streamCheck(scope, findings),
    unitCheck(findings),
    causeCheck(scope, findings),
    objectCheck(parts, manifest, findings),
    approvalCheck(scope, findings),
  ];
  const bytes = parts.get(PARTS.entries);
  if (bytes === undefined) {
    findings.add('part_missing', 'A part that every bundle has is missing.', { part: PARTS.entries });
  }
  return readEntries(bytes ?? new Uint8Array(0), manifest, checks, findings);
}

interface Known {
  readonly trust: Trust;
  readonly keys: KeyBook;
  readonly leaves: KnownLeaves;
}

/** True when somebody outside vouches for how large the log is: a witness, or a checkpoint that was kept. */
function judgeTree(
  parts: BundleParts,
  manifest: BundleManifest,
  { trust, keys, leaves }: Known,
  findings: Findings,
): boolean {
  const proof = readJson(parts, PARTS.proof, findings, readProof) ?? [];
  const consistency = readJson(parts, PARTS.consistency, findings, readConsistency) ?? [];
  const tree = new TreeFacts(manifest, leaves, proof, consistency);
  const checkpoints = readCheckpoints(parts, manifest, trust, keys, findings);
  checkCheckpoints(checkpoints, manifest, tree, findings);
  const witnesses = checkWitnesses(checkpoints.at(-1), trust, keys, findings);
  const isKept = checkKept({ trust, keys, origin: manifest.origin, checkpoints, tree }, findings);
  return witnesses > 0 || isKept;
}

function statementsOf(manifest: BundleManifest, leaves: KnownLeaves, isWitnessed: boolean): Statement[] {
  const { hidden, withheld } = leaves;
  const all: readonly (Statement & { readonly holds: boolean })[] = [
    {
      code: 'truncation_not_excluded',
      message:
        'No witness and no kept checkpoint vouches for the size of the log: cannot exclude truncation by its operator.',
      holds: !isWitnessed,
    },
    {
      code: 'payloads_withheld',
      message: `${withheld} payloads are withheld and were not checked.`,
      holds: withheld > 0,
    },
    { code: 'entries_hidden', message: `${hidden} entries of others are shown by their hash only.`, holds: hidden > 0 },
    {
      code: 'selection_only',
      message: 'The bundle is a selection: that it holds all there is about its subject is the word of who made it.',
      holds: manifest.scope.kind === 'selection',
    },
  ];
  return all.filter(({ holds }) => holds).map(({ code, message }) => ({ code, message }));
}
