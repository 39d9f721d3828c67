import type { CheckpointKind, CompatibilityVerdict } from '../events/session-events.js';

export const CHECKPOINT_STATUSES = ['open', 'archived'] as const;
export type CheckpointStatus = (typeof CHECKPOINT_STATUSES)[number];

/**
 * Where a run of a session can go on. It says where, and promises neither that something runs once nor that the same code
 * runs: at most one effect rests on claims and keys alone.
 */
export interface CheckpointState {
  readonly status: CheckpointStatus;
  readonly kind: CheckpointKind;
  /** What became of a run that another version left here; null: nobody had to ask. */
  readonly verdict: CompatibilityVerdict | null;
}
