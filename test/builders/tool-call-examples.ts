import type { DomainEvent, EventPayload } from '../../src/domain/events/catalogue.js';
import type { ToolCallCommand, ToolCallCommandKind } from '../../src/domain/tool-call/tool-call.commands.js';
import { foldToolCall } from '../../src/domain/tool-call/tool-call.evolve.js';
import type { ToolCallState } from '../../src/domain/tool-call/tool-call.state.js';
import type { Situation, TOOL_CALL_ANSWERS } from '../../src/domain/tool-call/tool-call.transitions.js';
import { rowsOf, type Trial, type TrialRow } from './machine-table.js';

/** Payloads, histories and commands of one refund, for specs about tool calls. Every time is on one day. */

export const at = (clock: string): string => `2031-01-01T${clock}.000Z`;

export const proposal = (
  more: Partial<EventPayload<'tool.call.proposed'>> = {},
): EventPayload<'tool.call.proposed'> => ({
  capability: 'refund.create',
  capabilityVersion: '1.0.0',
  manifestDigest: 'sha256:manifest',
  effect: 'probeable',
  risk: 'high',
  principal: { sub: 'alice', act: 'agent-7' },
  arguments: { orderId: 'o-1', amountMinor: 500 },
  argsDigest: 'sha256:args',
  intentDigest: 'sha256:intent',
  target: { connector: 'http', method: 'POST', url: 'https://pay.example/refunds' },
  downstreamKey: 'cs_key',
  executeBefore: at('18:00:00'),
  ...more,
});

export const decision = (
  phase: EventPayload<'policy.decided'>['phase'],
  attempt = 1,
): EventPayload<'policy.decided'> => ({
  phase,
  attempt,
  outcome: 'allow',
  policyRevision: 'sha256:policy',
  schemaDigest: 'sha256:schema',
  engineVersion: '4',
  requestDigest: 'sha256:request',
  request: {},
  determining: ['permit-refund'],
  reasons: [],
});

export const authorization = (attempt = 1): EventPayload<'capability.authorized'> => ({
  basis: 'policy',
  executeBy: at('12:00:00'),
  attempt,
});

export const dispatching = (attempt = 1): EventPayload<'tool.call.dispatching'> => ({
  attempt,
  nonce: `nonce-${attempt}`,
  fence: 3,
  owner: 'ins_1',
  ownerEpoch: 2,
  downstreamKey: 'cs_key',
  target: {},
  deadline: at('10:00:30'),
  dispatchIntentAt: at('10:00:00'),
});

export const completion = (
  basis: EventPayload<'tool.call.completed'>['basis'],
): EventPayload<'tool.call.completed'> => ({
  basis,
  result: { refundId: 'r-1' },
  resultDigest: 'sha256:result',
  resultTruncated: false,
  externalRequestId: 'r-1',
});

export const failure = (more: Partial<EventPayload<'tool.call.failed'>> = {}): EventPayload<'tool.call.failed'> => ({
  code: 'rejected',
  effect: 'none',
  basis: 'rejected',
  retryable: true,
  ...more,
});

const finding = (
  more: Partial<EventPayload<'manual.handoff_resolved'>> = {},
): EventPayload<'manual.handoff_resolved'> => ({
  handoffId: 'hnd_1',
  finding: 'not_happened',
  evidenceRefs: ['statement-9'],
  resolvedBy: { sub: 'olga' },
  ...more,
});

const unknown: EventPayload<'tool.call.result_unknown'> = { cause: 'timeout', externalRequestId: 'r-1' };
const resolution = (
  verdict: EventPayload<'reconciliation.resolved'>['verdict'],
  evidenceRefs = ['probe-1'],
): EventPayload<'reconciliation.resolved'> => ({ verdict, evidenceRefs });
const handoff: EventPayload<'tool.call.manual_handoff'> = { reason: 'attempts_exhausted', evidenceRefs: ['probe-1'] };
const opened: EventPayload<'manual.handoff_opened'> = { handoffId: 'hnd_1', packet: {} };
const cancelledFailure = failure({ code: 'cancelled', basis: 'cancelled' });

const PROPOSED: readonly DomainEvent[] = [
  { type: 'tool.call.proposed', payload: proposal() },
  { type: 'policy.decided', payload: decision('propose') },
];
const AUTHORIZED: readonly DomainEvent[] = [...PROPOSED, { type: 'capability.authorized', payload: authorization() }];
const DISPATCHING: readonly DomainEvent[] = [...AUTHORIZED, { type: 'tool.call.dispatching', payload: dispatching() }];
const DISPATCHED: readonly DomainEvent[] = [
  ...DISPATCHING,
  { type: 'tool.call.dispatched', payload: { dispatchedAt: at('10:00:01') } },
];
const ACCEPTED: readonly DomainEvent[] = [
  ...DISPATCHED,
  { type: 'tool.call.accepted', payload: { acceptedAt: at('10:00:02'), basis: 'ack', externalRequestId: 'r-1' } },
];
const RESULT_UNKNOWN: readonly DomainEvent[] = [...DISPATCHING, { type: 'tool.call.result_unknown', payload: unknown }];
const RECONCILING: readonly DomainEvent[] = [
  ...RESULT_UNKNOWN,
  { type: 'reconciliation.started', payload: { strategy: 'query_by_idempotency_key', deadline: at('11:00:00') } },
  { type: 'reconciliation.attempted', payload: { n: 1, result: 'inconclusive', nextAt: at('10:05:00') } },
];
const HANDED_OFF: readonly DomainEvent[] = [
  ...RECONCILING,
  { type: 'tool.call.manual_handoff', payload: handoff },
  { type: 'manual.handoff_opened', payload: opened },
];

const failed = (more: Partial<EventPayload<'tool.call.failed'>>): readonly DomainEvent[] => [
  ...DISPATCHED,
  { type: 'tool.call.failed', payload: failure(more) },
];
const found = (more: Partial<EventPayload<'manual.handoff_resolved'>>): readonly DomainEvent[] => [
  ...HANDED_OFF,
  { type: 'manual.handoff_resolved', payload: finding(more) },
];

/** At least one history for every column of the table; where a column stands for several cases, one for each. */
export const HISTORIES: Readonly<Record<Situation, readonly (readonly DomainEvent[])[]>> = {
  none: [[]],
  proposed: [PROPOSED],
  authorized: [AUTHORIZED],
  dispatching: [DISPATCHING],
  dispatched: [DISPATCHED],
  accepted: [ACCEPTED],
  result_unknown: [RESULT_UNKNOWN],
  reconciling: [RECONCILING],
  completed: [[...ACCEPTED, { type: 'tool.call.completed', payload: completion('direct') }]],
  failed_retryable: [failed({}), failed({ basis: 'not_sent' })],
  failed_for_good: [failed({ effect: 'partial' }), failed({ effect: 'full' }), failed({ retryable: false })],
  handoff_open: [HANDED_OFF],
  handoff_not_happened: [found({})],
  handoff_other_finding: [
    found({ finding: 'happened' }),
    found({ finding: 'partial' }),
    found({ finding: 'unknowable' }),
    found({ evidenceRefs: [] }),
  ],
  denied: [[...PROPOSED, { type: 'tool.call.denied', payload: { basis: 'policy', reasons: ['no_permit'] } }]],
  not_executed: [[...AUTHORIZED, { type: 'tool.call.not_executed', payload: { reason: 'authorization_expired' } }]],
  not_executed_contested: [
    [
      ...AUTHORIZED,
      { type: 'tool.call.not_executed', payload: { reason: 'contradicted' } },
      { type: 'tool.call.contradiction_recorded', payload: { evidenceRefs: ['cb-2'], meaning: 'happened' } },
    ],
  ],
};

/** The states of one column, each folded from its history. */
export function callsIn(situation: Situation): readonly (ToolCallState | null)[] {
  return HISTORIES[situation].map((history) => foldToolCall(null, history));
}

/** One call of a status. */
export function callIn(situation: Exclude<Situation, 'none'>): ToolCallState {
  const [first] = callsIn(situation);
  if (first === undefined || first === null) throw new Error(`no history for ${situation}`);
  return first;
}

type CallTrial = Trial<ToolCallState, ToolCallCommand>;

const attemptOf = (state: ToolCallState | null): number => state?.attempt ?? 1;
const queriesOf = (state: ToolCallState | null): number => (state?.status === 'reconciling' ? state.queries : 0);
const askedToCancel = (state: ToolCallState): ToolCallState => ({
  ...state,
  cancellationRequested: true,
  cancelBy: at('10:00:20'),
});
const notAskedToCancel = (state: ToolCallState): ToolCallState => ({
  ...state,
  cancellationRequested: false,
  cancelBy: null,
});
const withEffect = (state: ToolCallState): ToolCallState => {
  if (state.status === 'failed') return { ...state, knownEffect: 'partial' };
  if (state.status !== 'manual_handoff') return state;
  return { ...state, resolution: { finding: 'happened', evidenceRefs: ['statement-9'] } };
};
const withoutEffect = (state: ToolCallState): ToolCallState => {
  if (state.status === 'failed') return { ...state, knownEffect: 'none' };
  return state.status === 'manual_handoff' ? { ...state, resolution: null } : state;
};
const requestCancellation: ToolCallCommand = {
  kind: 'request_cancellation',
  cancellation: { deadline: at('10:00:20') },
};
const compensate = (given: CallTrial['given'] & object): CallTrial => ({
  command: () => ({
    kind: 'request_compensation',
    request: { compensatesToolCallId: 'call_1', newToolCallId: 'call_2' },
  }),
  given,
});
const acceptedAt = at('10:00:02');

const dispatch =
  (now: string) =>
  (state: ToolCallState | null): ToolCallCommand => ({
    kind: 'dispatch',
    dispatch: dispatching(attemptOf(state)),
    now,
  });
const decide =
  (phase: EventPayload<'policy.decided'>['phase']) =>
  (state: ToolCallState | null): ToolCallCommand => ({
    kind: 'record_decision',
    decision: decision(phase, attemptOf(state)),
  });
const fail = (more: Partial<EventPayload<'tool.call.failed'>>): CallTrial => ({
  command: () => ({ kind: 'fail', failure: failure(more), acceptedAt, sentAt: null }),
});
const deny = (basis: EventPayload<'tool.call.denied'>['basis']): CallTrial => ({
  command: () => ({ kind: 'deny', denial: { basis, reasons: [] } }),
});
const resolveHappened = (basis: 'callback' | 'reconciliation', evidenceRefs?: string[]): CallTrial => ({
  command: () => ({
    kind: 'resolve_happened',
    resolution: resolution('happened', evidenceRefs),
    completion: completion(basis),
  }),
});
const resolveFailed = (basis: 'callback' | 'reconciliation', evidenceRefs?: string[]): CallTrial => ({
  command: () => ({
    kind: 'resolve_failed',
    resolution: resolution('not_happened', evidenceRefs),
    failure: failure({ basis }),
  }),
});
const resolveHandoff = (more: Partial<EventPayload<'manual.handoff_resolved'>>): CallTrial => ({
  command: () => ({ kind: 'resolve_handoff', finding: finding(more) }),
});
const recordFinding = (more: Partial<EventPayload<'manual.handoff_resolved'>>): CallTrial => ({
  command: () => {
    const { resolvedBy: foundBy, ...found } = finding(more);
    return { kind: 'record_finding', finding: { ...found, foundBy } };
  },
});
const acknowledge = (sentAt: string | null, given: CallTrial['given'] & object): CallTrial => ({
  command: () => ({
    kind: 'acknowledge_cancellation',
    cancelled: { effect: 'none' },
    failure: cancelledFailure,
    sentAt,
  }),
  given,
});
const always = (command: ToolCallCommand): { readonly any: CallTrial } => ({ any: { command: () => command } });

const LOST_ATTEMPT = { nonce: 'none', fence: 1, owner: 'unknown', ownerEpoch: 0, deadline: at('10:00:00') };

type Trials = {
  readonly [K in ToolCallCommandKind]: { readonly [V in keyof (typeof TOOL_CALL_ANSWERS)[K]]: CallTrial };
};

/** A command for every row of the table. */
export const TRIALS: Trials = {
  propose: always({ kind: 'propose', proposal: proposal() }),
  record_decision: {
    propose: { command: decide('propose') },
    vote: { command: decide('vote') },
    dispatch: { command: decide('dispatch') },
    retry: { command: decide('retry') },
  },
  authorize: {
    any: { command: (state) => ({ kind: 'authorize', authorization: authorization(attemptOf(state)) }) },
  },
  deny: {
    by_policy: deny('policy'),
    by_people: deny('approval'),
    by_a_refusal: deny('refusal'),
    by_policy_at_dispatch: deny('policy_at_dispatch'),
    by_precondition: deny('precondition'),
  },
  close: always({ kind: 'close', closing: { reason: 'stopped' } }),
  withdraw: always({ kind: 'withdraw', withdrawal: { reason: 'approval_invalidated' } }),
  dispatch: {
    in_time: { command: dispatch(at('11:59:59')) },
    past_execute_by: { command: dispatch(at('12:00:00')) },
    past_execute_before: {
      command: dispatch(at('10:00:00')),
      given: (state) => ({ ...state, executeBefore: at('10:00:00') }),
    },
  },
  record_sent: always({ kind: 'record_sent', sent: { dispatchedAt: at('10:00:01') } }),
  record_acceptance: always({ kind: 'record_acceptance', acceptance: { acceptedAt, basis: 'ack' } }),
  complete: always({ kind: 'complete', completion: completion('direct'), acceptedAt, sentAt: at('10:00:01') }),
  fail: {
    never_sent: fail({ basis: 'not_sent' }),
    rejected: fail({ basis: 'rejected' }),
    with_effect: fail({ basis: 'rejected', effect: 'partial' }),
    by_callback: fail({ basis: 'callback' }),
  },
  mark_unknown: {
    any: { command: () => ({ kind: 'mark_unknown', unknown }) },
    restored: {
      command: (state) => ({
        kind: 'mark_unknown',
        unknown: {
          cause: 'restored',
          ...(state?.status === 'proposed' || state?.status === 'authorized' ? { carrying: LOST_ATTEMPT } : {}),
        },
      }),
    },
  },
  start_reconciliation: always({
    kind: 'start_reconciliation',
    start: { strategy: 'query_by_idempotency_key', deadline: at('11:00:00') },
  }),
  record_query: {
    any: {
      command: (state) => ({
        kind: 'record_query',
        query: { n: queriesOf(state) + 1, result: 'inconclusive', nextAt: at('10:10:00') },
      }),
    },
  },
  resolve_happened: {
    by_callback: resolveHappened('callback'),
    by_reconciliation: resolveHappened('reconciliation'),
    without_evidence: resolveHappened('callback', []),
  },
  resolve_failed: {
    by_callback: resolveFailed('callback'),
    by_reconciliation: resolveFailed('reconciliation'),
    without_evidence: resolveFailed('callback', []),
  },
  hand_off: always({ kind: 'hand_off', handoff, opened }),
  record_finding: {
    with_evidence: recordFinding({}),
    unknowable: recordFinding({ finding: 'unknowable', evidenceRefs: [] }),
    without_evidence: recordFinding({ finding: 'happened', evidenceRefs: [] }),
    of_another_handoff: recordFinding({ handoffId: 'hnd_2' }),
  },
  resolve_handoff: {
    with_evidence: resolveHandoff({}),
    unknowable: resolveHandoff({ finding: 'unknowable', evidenceRefs: [] }),
    without_evidence: resolveHandoff({ finding: 'happened', evidenceRefs: [] }),
    of_another_handoff: resolveHandoff({ handoffId: 'hnd_2' }),
  },
  accept_retry: {
    any: {
      command: (state) => ({
        kind: 'accept_retry',
        retry: { attempt: attemptOf(state) + 1, previousStatus: state?.status ?? 'none' },
      }),
    },
  },
  record_callback: always({
    kind: 'record_callback',
    callback: { callbackId: 'cb-1', source: 'pay.example', meaning: 'happened' },
  }),
  ignore_callback: always({ kind: 'ignore_callback', ignored: { callbackId: 'cb-1', reason: 'duplicate' } }),
  record_contradiction: always({
    kind: 'record_contradiction',
    contradiction: { evidenceRefs: ['cb-2'], meaning: 'happened' },
  }),
  request_cancellation: {
    any: { command: () => requestCancellation },
    of_what_cannot_be_stopped: {
      command: () => requestCancellation,
      given: (state) => ({ ...state, irreversible: 'refused_by_tool' }),
    },
  },
  acknowledge_cancellation: {
    asked_and_sent: acknowledge(at('10:00:01'), askedToCancel),
    asked_but_not_known_sent: acknowledge(null, askedToCancel),
    never_asked: acknowledge(at('10:00:01'), notAskedToCancel),
  },
  record_irreversible: always({ kind: 'record_irreversible', irreversible: { reason: 'not_supported' } }),
  request_compensation: {
    of_a_known_effect: compensate(withEffect),
    of_no_known_effect: compensate(withoutEffect),
    a_second_time: compensate((state) => ({ ...state, compensatedBy: 'call_9' })),
    of_a_read: compensate((state) => ({ ...withEffect(state), effect: 'read_only' })),
  },
};

export type CallTrialRow = TrialRow<ToolCallState, ToolCallCommand>;
export const CALL_ROWS: readonly CallTrialRow[] = rowsOf(TRIALS);
