import type { Principal } from '../principal.js';

/** What run.* events say; waits are computed on read from open approvals, reviews and calls. */
export const RUN_STATUSES = [
  'running',
  'suspending',
  'suspended',
  'interrupted',
  'stopping',
  'completed',
  'failed',
  'stopped',
  'handed_off',
  'ended_unrecorded',
] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export const RUN_TERMINAL_STATUSES = ['completed', 'failed', 'stopped', 'handed_off', 'ended_unrecorded'] as const;
export type RunTerminalStatus = (typeof RUN_TERMINAL_STATUSES)[number];

export function isEnded(status: RunStatus): status is RunTerminalStatus {
  return RUN_TERMINAL_STATUSES.some((terminal) => terminal === status);
}

/** A run is open to proposals and dispatches only while it is in one of these. */
export const RUN_OPEN_STATUSES = ['running', 'interrupted', 'suspending'] as const;

export interface RunState {
  readonly status: RunStatus;
  readonly implicit: boolean;
  readonly label: string | null;
  readonly principal: Principal;
  /** The model leg of a stop: nothing to cancel, still to be cancelled, or reported cancelled. */
  readonly modelLeg: 'idle' | 'active' | 'cancelled';
  /** Why a terminal run ended, where its last event says so. */
  readonly endReason: string | null;
}
