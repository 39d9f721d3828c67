import { refuse, type ErrorCode, type Refusal } from '../errors/error-codes.js';
import { RUN_OPEN_STATUSES, type RunStatus } from './run.state.js';

/** What a status answers to everything it does not allow: the status itself is what is in the way. */
export const IN_THE_WAY: Readonly<Record<RunStatus, ErrorCode>> = {
  running: 'not_at_safe_point',
  suspending: 'not_at_safe_point',
  suspended: 'run_suspended',
  interrupted: 'run_suspended',
  stopping: 'run_stopping',
  completed: 'run_already_ended',
  failed: 'run_already_ended',
  stopped: 'run_already_ended',
  handed_off: 'run_already_ended',
  ended_unrecorded: 'run_already_ended',
};

/**
 * Null when a run takes proposals and dispatches, otherwise why not. A run on its way to a suspension finishes what it
 * has begun; one that waits for a resume, is being stopped or has ended starts nothing.
 */
export function workRefusal(status: RunStatus): Refusal | null {
  const open = RUN_OPEN_STATUSES.some((candidate) => candidate === status);
  return open ? null : refuse(IN_THE_WAY[status], `The run is ${status}.`);
}
