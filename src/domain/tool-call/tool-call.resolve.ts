import { refuse, type Refusal } from '../errors/error-codes.js';
import { decided, mustHold } from '../events/decided.js';
import type { EventPayload } from '../events/catalogue.js';
import type { ToolCallCommandOf } from './tool-call.commands.js';
import { from, isOneOf, outOfPlace, UNKNOWN, type DecidedCall } from './tool-call.place.js';
import type { ToolCallState } from './tool-call.state.js';

/** How a call of unknown result gets its end: by evidence, or by being handed to a person. Never by sending it again. */

/** E14. */
export function recordQuery(state: ToolCallState, { query }: ToolCallCommandOf<'record_query'>): DecidedCall {
  if (state.status !== 'reconciling') return outOfPlace(state);
  mustHold(query.n === state.queries + 1, 'queries are counted without a gap');
  return decided({ type: 'reconciliation.attempted', payload: query });
}

/** E15. */
export function resolveHappened(state: ToolCallState, command: ToolCallCommandOf<'resolve_happened'>): DecidedCall {
  const { resolution, completion } = command;
  mustHold(resolution.verdict === 'happened', 'a completion rests on the verdict happened');
  mustHold(completion.basis !== 'direct', 'an unknown result is settled by a callback or by reconciliation');
  return (
    unsettled(state, completion.basis, resolution) ??
    decided(
      { type: 'reconciliation.resolved', payload: resolution },
      { type: 'tool.call.completed', payload: completion },
    )
  );
}

/** E16. */
export function resolveFailed(state: ToolCallState, command: ToolCallCommandOf<'resolve_failed'>): DecidedCall {
  const { resolution, failure } = command;
  mustHold(resolution.verdict !== 'happened', 'a failure rests on the verdict not_happened or failed');
  mustHold(resolution.verdict === 'failed' || failure.effect === 'none', 'what did not happen has no effect');
  mustHold(
    failure.basis === 'callback' || failure.basis === 'reconciliation',
    'an unknown result is settled by a callback or by reconciliation',
  );
  return (
    unsettled(state, failure.basis, resolution) ??
    decided({ type: 'reconciliation.resolved', payload: resolution }, { type: 'tool.call.failed', payload: failure })
  );
}

/** Null when the evidence may settle the call: reconciliation must have been started, a callback need not wait for it. */
function unsettled(
  state: ToolCallState,
  basis: 'callback' | 'reconciliation',
  resolution: EventPayload<'reconciliation.resolved'>,
): Refusal | null {
  if (!isOneOf(state, UNKNOWN)) return outOfPlace(state);
  if (state.status === 'result_unknown' && basis === 'reconciliation') {
    return refuse('tool_call_not_ready', 'Reconciliation of the call has not been started.');
  }
  const evidence = resolution.evidenceRefs.length > 0 || (resolution.evidence ?? null) !== null;
  return evidence ? null : refuse('evidence_required', 'An unknown result is settled by evidence only.');
}

/** E17. */
export function handOff(state: ToolCallState, { handoff, opened }: ToolCallCommandOf<'hand_off'>): DecidedCall {
  return from(
    state,
    UNKNOWN,
    { type: 'tool.call.manual_handoff', payload: handoff },
    { type: 'manual.handoff_opened', payload: opened },
  );
}

/** Decision 29: a person's finding, once. The execution stays `manual_handoff`; the finding is a field of its own. */
export function resolveHandoff(state: ToolCallState, { finding }: ToolCallCommandOf<'resolve_handoff'>): DecidedCall {
  return notOpenFor(state, finding) ?? decided({ type: 'manual.handoff_resolved', payload: finding });
}

/** What one person has found where another has to find the same: on record, and nothing more. */
export function recordFinding(state: ToolCallState, { finding }: ToolCallCommandOf<'record_finding'>): DecidedCall {
  return notOpenFor(state, finding) ?? decided({ type: 'manual.finding_recorded', payload: finding });
}

function notOpenFor(
  state: ToolCallState,
  finding: Pick<EventPayload<'manual.finding_recorded'>, 'handoffId' | 'finding' | 'evidenceRefs'>,
): Refusal | null {
  if (state.status !== 'manual_handoff') return refuse('handoff_not_open', `The call is ${state.status}.`);
  if (state.resolution !== null) return refuse('handoff_not_open', `The finding is ${state.resolution.finding}.`);
  if (finding.handoffId !== state.handoffId) return refuse('handoff_not_open', 'This is not the handoff of the call.');
  return finding.finding !== 'unknowable' && finding.evidenceRefs.length === 0
    ? refuse('evidence_required', 'A finding about the effect needs evidence.')
    : null;
}
