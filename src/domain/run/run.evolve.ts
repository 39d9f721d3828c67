import type { DomainEvent, EventPayload } from '../events/catalogue.js';
import { isIn, type EventIn } from '../events/domain-event.js';
import { readPrincipal } from '../events/payload-reading.js';
import type { RunState, RunTerminalStatus } from './run.state.js';

/**
 * The state of a run after one more event of its stream. Never judges; throws a plain `Error` only where no state can be
 * made: an event of another stream, or one before `run.started`.
 */
export function evolveRun(state: RunState | null, event: DomainEvent): RunState {
  if (!isIn('run', event)) throw new Error(`${event.type} is not an event of a run`);
  if (event.type === 'run.started') return started(event.payload);
  if (state === null) throw new Error(`${event.type} cannot be the first event of a run`);
  return evolve(state, event);
}

/** Folds events onto a state; `null` with the whole stream gives what the stored row must say. */
export function foldRun(state: RunState | null, events: readonly DomainEvent[]): RunState | null {
  return events.reduce<RunState | null>(evolveRun, state);
}

type LaterEvent = Exclude<EventIn<'run'>, { readonly type: 'run.started' }>;

function evolve(state: RunState, event: LaterEvent): RunState {
  switch (event.type) {
    case 'run.suspend_requested':
      return { ...state, status: 'suspending' };
    case 'run.suspended':
      return { ...state, status: 'suspended' };
    case 'run.resumed':
      return { ...state, status: 'running', modelLeg: 'idle' };
    case 'run.interrupted':
      return { ...state, status: 'interrupted' };
    case 'stop.requested':
      return { ...state, status: 'stopping', modelLeg: event.payload.modelActive ? 'active' : 'idle' };
    case 'model.cancelled':
      return { ...state, modelLeg: 'cancelled' };
    case 'run.completed':
      return ended(state, 'completed', event.payload.reason ?? null);
    case 'run.failed':
      return ended(state, 'failed', codeOf(event.payload.lastError));
    case 'run.stopped':
      return ended(state, 'stopped', null);
    case 'run.handed_off':
      return ended(state, 'handed_off', event.payload.reason);
    case 'run.marked_not_resumable':
      return ended(state, 'ended_unrecorded', null);
    case 'reasoning.recorded':
    case 'artifact.created':
    case 'subagent.spawned':
    case 'subagent.completed':
    case 'subagent.failed':
    case 'subagent.late_result':
      return state; // what a run is about has rows of its own
  }
}

function started(start: EventPayload<'run.started'>): RunState {
  return {
    status: 'running',
    implicit: start.implicit,
    label: start.label ?? null,
    principal: readPrincipal(start.principal),
    modelLeg: 'idle',
    endReason: null,
  };
}

function ended(state: RunState, status: RunTerminalStatus, endReason: string | null): RunState {
  return { ...state, status, endReason };
}

/** The code of a recorded error; its message stays in the event. */
function codeOf(lastError: EventPayload<'run.failed'>['lastError']): string | null {
  return typeof lastError['code'] === 'string' ? lastError['code'] : null;
}
