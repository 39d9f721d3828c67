import { CHECKPOINT_PART, checkpointPart, type BundleManifest } from '../bundle/bundle-format.js';
import type { BundleParts } from '../bundle/container.js';
import { openCheckpoint, type OpenedCheckpoint } from '../notes/checkpoint.js';
import { sameHash } from '../tree/node-hash.js';
import type { Findings } from './findings.js';
import { readText } from './read-parts.js';
import type { TreeFacts } from './tree-facts.js';
import type { KeyBook, Trust } from './trust.js';

/** A checkpoint of the bundle that a trusted key of the log signed. */
export interface SignedCheckpoint extends OpenedCheckpoint {
  readonly part: string;
}

/** The checkpoints in their order; those that cannot be relied on are findings and left out. */
export function readCheckpoints(
  parts: BundleParts,
  manifest: BundleManifest,
  trust: Trust,
  keys: KeyBook,
  findings: Findings,
): readonly SignedCheckpoint[] {
  const numbers = [...parts.keys()].map((name) => Number(CHECKPOINT_PART.exec(name)?.[1] ?? 0));
  const signed: SignedCheckpoint[] = [];
  const count = numbers.reduce((most, number) => Math.max(most, number), 1);
  for (let n = 1; n <= count; n += 1) {
    const part = checkpointPart(n);
    const text = readText(parts, part, findings);
    const opened = text === null ? null : openCheckpoint(text, [...keys.logKeys(), ...trust.witnesses]);
    if (text !== null && opened === null) findings.add('part_malformed', 'The part is not a checkpoint.', { part });
    if (opened !== null && isSigned(opened, part, manifest, keys, findings)) signed.push({ ...opened, part });
  }
  return signed;
}

function isSigned(
  opened: OpenedCheckpoint,
  part: string,
  { origin }: BundleManifest,
  keys: KeyBook,
  findings: Findings,
): boolean {
  const { checkpoint, verified, invalid } = opened;
  if (checkpoint.origin !== origin) {
    findings.add('origin_differs', 'The checkpoint is of another log than the bundle.', { part });
    return false;
  }
  if (invalid.some(({ type }) => type === 'cosignature/v1')) {
    findings.add('witness_invalid', 'A cosignature is not that of the witness it names.', { part });
  }
  const signers = verified.map(({ key }) => key).filter(({ name, type }) => name === origin && type === 'ed25519');
  if (signers.length === 0 || invalid.some(({ type }) => type === 'ed25519')) {
    findings.add('checkpoint_unsigned', 'No trusted key of this log signed the checkpoint.', { part });
    return false;
  }
  return keys.inUse(signers, 'log', { size: checkpoint.size }, findings, { part });
}

/** Sizes never go down, each tree continues the one before, and the last is the tree that the entries are in. */
export function checkCheckpoints(
  checkpoints: readonly SignedCheckpoint[],
  manifest: BundleManifest,
  tree: TreeFacts,
  findings: Findings,
): void {
  checkpoints.forEach((current, at) => {
    const before = checkpoints[at - 1];
    if (before !== undefined) checkPair(before, current, tree, findings);
  });
  const last = checkpoints.at(-1);
  if (last === undefined) return;
  if (last.checkpoint.size !== manifest.treeSize) {
    findings.add('tree_size_differs', 'The last checkpoint is not of the tree of the bundle.', { part: last.part });
    return;
  }
  if (!tree.isReadable) return;
  if (tree.isWhole) checkComputed(checkpoints, tree, findings);
  else checkProven(last, tree, findings);
}

function checkPair(before: SignedCheckpoint, current: SignedCheckpoint, tree: TreeFacts, findings: Findings): void {
  const { part } = current;
  if (current.checkpoint.size < before.checkpoint.size) {
    findings.add('checkpoint_size_down', 'The log was larger at the checkpoint before.', { part });
    return;
  }
  const continues = tree.continues(before.checkpoint, current.checkpoint);
  if (continues === false) {
    findings.add('checkpoints_inconsistent', 'The tree does not continue that of the checkpoint before.', { part });
  }
  if (continues === null && !tree.isWhole) {
    findings.add('consistency_missing', 'Nothing shows that the tree continues the one before.', { part });
  }
}

/** Every leaf is there: each root is computed, and the first that differs tells where to look. */
function checkComputed(checkpoints: readonly SignedCheckpoint[], tree: TreeFacts, findings: Findings): void {
  const sorted = [...checkpoints].sort((left, right) => left.checkpoint.size - right.checkpoint.size);
  tree.computeRoots(sorted.map(({ checkpoint }) => checkpoint.size));
  let good = 0;
  for (const { checkpoint, part } of sorted) {
    const root = tree.computedRoot(checkpoint.size);
    if (root === null || !sameHash(root, checkpoint.root)) {
      const message = `The entries are not those of the checkpoint; the first difference is at ${good} or behind.`;
      findings.add('root_differs', message, { part, position: good });
      return;
    }
    good = checkpoint.size;
  }
}

function checkProven({ checkpoint, part }: SignedCheckpoint, tree: TreeFacts, findings: Findings): void {
  const root = tree.provenRoot();
  if (root === null)
    findings.add('proof_malformed', 'The proof does not fit the entries and the tree.', { part: 'proof.json' });
  else if (!sameHash(root, checkpoint.root)) {
    findings.add('root_differs', 'The entries and the proof do not lead to the root that was signed.', { part });
  }
}
