import { openCheckpoint } from '../notes/checkpoint.js';
import { sameHash } from '../tree/node-hash.js';
import type { SignedCheckpoint } from './check-checkpoints.js';
import type { Findings } from './findings.js';
import type { Sized, TreeFacts } from './tree-facts.js';
import type { KeyBook, Trust } from './trust.js';

/** How many witnesses cosigned the last checkpoint, each within its time. A finding when they are too few. */
export function checkWitnesses(
  last: SignedCheckpoint | undefined,
  trust: Trust,
  keys: KeyBook,
  findings: Findings,
): number {
  const needed = trust.witnessesMin ?? Math.min(1, trust.witnesses.length);
  const cosigned = (last?.verified ?? []).filter(({ key, timeSeconds }) => {
    if (timeSeconds === null || last === undefined) return false;
    const time = new Date(timeSeconds * 1_000).toISOString();
    return keys.inUse([key], 'witness', { time }, findings, { part: last.part });
  });
  const count = new Set(cosigned.map(({ key }) => key.name)).size;
  if (count < needed) {
    const message = `${count} of ${needed} witnesses cosigned the last checkpoint.`;
    findings.add('witness_missing', message, last === undefined ? {} : { part: last.part });
  }
  return count;
}

interface Kept {
  readonly trust: Trust;
  readonly keys: KeyBook;
  readonly origin: string;
  readonly checkpoints: readonly SignedCheckpoint[];
  readonly tree: TreeFacts;
}

/** The log of the bundle continues every checkpoint that somebody kept. True when there is one and all hold. */
export function checkKept({ trust, keys, origin, checkpoints, tree }: Kept, findings: Findings): boolean {
  const kept = trust.kept ?? [];
  let held = 0;
  kept.forEach((note, at) => {
    const part = `kept checkpoint ${at + 1}`;
    const opened = openCheckpoint(note, keys.logKeys());
    const isOurs = opened?.verified.some(({ key }) => key.name === opened.checkpoint.origin) === true;
    if (opened === null || !isOurs || opened.invalid.length > 0) {
      findings.add('kept_checkpoint_unusable', 'It is not a checkpoint that a trusted key signed.', { part });
      return;
    }
    const code =
      opened.checkpoint.origin === origin ? judge(opened.checkpoint, checkpoints, tree) : 'kept_checkpoint_differs';
    if (code === null) held += 1;
    else findings.add(code, MESSAGES[code], { part });
  });
  return kept.length > 0 && held === kept.length;
}

const MESSAGES = {
  kept_checkpoint_ahead:
    'The log was larger when this checkpoint was kept: entries were cut off, or the bundle is older.',
  kept_checkpoint_differs: 'The log of the bundle is another than the one this checkpoint was kept of.',
  kept_checkpoint_unproven: 'The bundle does not prove that it continues this checkpoint: ask for a consistency proof.',
} as const;

function judge(kept: Sized, checkpoints: readonly SignedCheckpoint[], tree: TreeFacts): keyof typeof MESSAGES | null {
  const last = checkpoints.at(-1)?.checkpoint;
  if (last === undefined) return 'kept_checkpoint_unproven';
  if (kept.size > last.size) return 'kept_checkpoint_ahead';
  const known = checkpoints.find(({ checkpoint }) => checkpoint.size === kept.size)?.checkpoint.root;
  const root = known ?? computed(kept.size, tree);
  if (root !== null) return sameHash(root, kept.root) ? null : 'kept_checkpoint_differs';
  const continues = tree.continues(kept, last);
  if (continues === null) return 'kept_checkpoint_unproven';
  return continues ? null : 'kept_checkpoint_differs';
}

function computed(size: number, tree: TreeFacts): Uint8Array | null {
  if (!tree.isWhole) return null;
  tree.computeRoots([size]);
  return tree.computedRoot(size);
}
