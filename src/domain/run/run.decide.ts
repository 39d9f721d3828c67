import { refuse, type ErrorCode, type Refusal } from '../errors/error-codes.js';
import { decided, type Decided } from '../events/decided.js';
import type { EventIn } from '../events/domain-event.js';
import type { RunCommand, RunCommandOf } from './run.commands.js';
import { IN_THE_WAY } from './run.admission.js';
import { decideChain, isChainCommand } from './run.chain.js';
import { isEnded, type RunState, type RunStatus } from './run.state.js';

export type RunEvent = EventIn<'run'>;
export type DecidedRun = Decided<RunEvent>;

/**
 * What a command makes true of a run, or why it is refused: state-machines §1 with decision 20, so waits for approvals
 * and reconciliation are not among the statuses. `run.transitions.ts` says the same as a table. `openCalls` counts the
 * calls whose leg is not settled (§6, S13); the caller knows them, this machine does not.
 */
export function decideRun(state: RunState | null, command: RunCommand): DecidedRun {
  if (command.kind === 'start') return start(state, command);
  if (state === null) return refuse('run_not_found', 'There is no such run.');
  const afterEnd = refuse(afterTheEnd(state.status, command.kind), `The run has ended: ${state.status}.`);
  if (isChainCommand(command)) return decideChain(state, command, afterEnd);
  if (isEnded(state.status)) return afterEnd;
  switch (command.kind) {
    case 'request_suspend':
      return from(state, ['running'], { type: 'run.suspend_requested', payload: command.request });
    case 'suspend':
      return from(state, ['suspending'], { type: 'run.suspended', payload: command.suspension });
    case 'resume':
      return resume(state, command);
    case 'interrupt':
      return interrupt(state, command);
    case 'request_stop':
      return from(state, ['running', 'suspending', 'suspended', 'interrupted'], {
        type: 'stop.requested',
        payload: command.request,
      });
    case 'cancel_model':
      return cancelModel(state, command);
    case 'stop':
      return stop(state, command);
    case 'complete':
      return complete(state, command);
    case 'fail':
      return from(state, ['running', 'interrupted'], { type: 'run.failed', payload: command.failure });
    case 'hand_off':
      return decided({ type: 'run.handed_off', payload: command.handoff });
    case 'mark_not_resumable':
      return decided({ type: 'run.marked_not_resumable', payload: command.marking });
  }
}

/** R1. Whether the session has another active run is a guard of the unit. */
function start(state: RunState | null, command: RunCommandOf<'start'>): DecidedRun {
  if (state === null) return decided({ type: 'run.started', payload: command.start });
  return isEnded(state.status)
    ? refuse('run_already_ended', `The run has ended: ${state.status}.`)
    : refuse('run_already_active', `The run is ${state.status}.`);
}

/** R10. */
function resume(state: RunState, command: RunCommandOf<'resume'>): DecidedRun {
  if (state.status === 'running') return refuse('run_already_active', 'The run is running.');
  return from(state, ['suspended', 'interrupted'], { type: 'run.resumed', payload: command.resumption });
}

/**
 * R11, R12: a cold load found no owner. A run that was on its way to a suspension arrives there; one that rests or is
 * being stopped is left as it is, so that loading twice adds nothing. An implicit run has no owner to lose (decision 21).
 */
function interrupt(state: RunState, { interruption }: RunCommandOf<'interrupt'>): DecidedRun {
  if (state.status === 'suspending') {
    const checkpoint = interruption.checkpointId ?? null;
    return decided({ type: 'run.suspended', payload: checkpoint === null ? {} : { checkpointId: checkpoint } });
  }
  if (state.status !== 'running') return decided();
  if (state.implicit) return refuse('command_not_supported', 'A run that was opened implicitly is never interrupted.');
  return decided({ type: 'run.interrupted', payload: interruption });
}

/** S2–S4, T11: only a model that was asked to end can be cancelled, and that is said once. */
function cancelModel(state: RunState, { cancellation }: RunCommandOf<'cancel_model'>): DecidedRun {
  if (state.status !== 'stopping' && state.status !== 'suspending') return outOfPlace(state);
  const nothingToSay = state.modelLeg === 'cancelled' || (state.status === 'stopping' && state.modelLeg === 'idle');
  return nothingToSay ? decided() : decided({ type: 'model.cancelled', payload: cancellation });
}

/** R14: every leg is settled. */
function stop(state: RunState, command: RunCommandOf<'stop'>): DecidedRun {
  if (state.status !== 'stopping') return outOfPlace(state);
  if (state.modelLeg === 'active') return refuse('run_has_open_work', 'The model has not been reported cancelled.');
  return openWork(command.openCalls) ?? decided({ type: 'run.stopped', payload: command.stop });
}

/** R15. */
function complete(state: RunState, command: RunCommandOf<'complete'>): DecidedRun {
  if (state.status !== 'running') return outOfPlace(state);
  return openWork(command.openCalls) ?? decided({ type: 'run.completed', payload: command.completion });
}

function openWork(openCalls: number): Refusal | null {
  return openCalls === 0 ? null : refuse('run_has_open_work', `Open calls of the run: ${openCalls}.`);
}

function from(state: RunState, statuses: readonly RunStatus[], event: RunEvent): DecidedRun {
  return statuses.includes(state.status) ? decided(event) : outOfPlace(state);
}

/** The refusal of a transition that an open run does not have: what is in the way is the status itself. */
function outOfPlace(state: RunState): Refusal {
  return refuse(IN_THE_WAY[state.status], `The run is ${state.status}; it has no such transition.`);
}

/** A marked run answers a resume with its own word. */
function afterTheEnd(status: RunStatus, kind: RunCommand['kind']): ErrorCode {
  return kind === 'resume' && status === 'ended_unrecorded' ? 'run_not_resumable' : 'run_already_ended';
}
