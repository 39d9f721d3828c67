import { ON_THE_WIRE } from '../../domain/tool-call/tool-call.place.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';

/** How far the stop of a run has come with one of its calls. */
export type Leg =
  'open' | 'not_started' | 'cancel_requested' | 'cancelled' | 'irreversible' | 'finished' | 'handed_over';

/** What a stop does next about a call; `null`: nothing, or nothing but wait. */
export type LegStep = 'close' | 'stop_at_tool' | null;

export interface LegOfCall {
  readonly leg: Leg;
  /** The run need not wait for this call any more. */
  readonly settled: boolean;
  readonly next: LegStep;
}

/**
 * State-machines §6, S5–S12, read from the state of a call alone, so that a stop goes on after a crash where it was.
 * `observed` says that somebody beyond this attempt waits for the result of what the tool has taken on: a callback or a
 * poll. What is on the wire without that is waited for until its attempt ends; nothing is torn down.
 */
export function legOf(state: ToolCallState, observed: boolean): LegOfCall {
  switch (state.status) {
    case 'proposed':
    case 'authorized':
      return { leg: 'open', settled: false, next: 'close' };
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
      return onTheWire(state, observed && state.status === 'accepted');
    case 'result_unknown':
    case 'reconciling':
    case 'manual_handoff':
      return ended('handed_over');
    case 'completed':
      return ended(undisputed(state, 'finished'));
    case 'failed':
      return ended(undisputed(state, state.code === 'cancelled' ? 'cancelled' : 'finished'));
    case 'denied':
    case 'not_executed':
      return ended(undisputed(state, 'not_started'));
  }
}

function onTheWire(state: ToolCallState, observed: boolean): LegOfCall {
  // A read leaves nothing in the world: there is nothing to stop and nothing that could not be undone.
  if (state.effect === 'read_only') return { leg: 'open', settled: observed, next: null };
  if (state.cancellationRequested) return { leg: 'cancel_requested', settled: false, next: null };
  if (state.irreversible !== null) return { leg: 'irreversible', settled: observed, next: null };
  return { leg: 'open', settled: false, next: 'stop_at_tool' };
}

/** An end that evidence contradicts is no fact: people have to look. */
const undisputed = (state: ToolCallState, leg: Leg): Leg => (state.contradicted ? 'handed_over' : leg);

const ended = (leg: Leg): LegOfCall => ({ leg, settled: true, next: null });

/** Statuses in which a call must not be when its run is said to be stopped. */
export const UNSETTLED = ['proposed', 'authorized', ...ON_THE_WIRE.filter((status) => status !== 'accepted')] as const;
