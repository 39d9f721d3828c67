import type { ErrorCode } from '../errors/error-codes.js';
import type { EventTypeIn } from '../events/catalogue.js';
import { stay, to, type Edges, type PerItem } from '../events/edges.js';
import type { ToolCallCommandKind } from './tool-call.commands.js';
import { provenNoEffect, retryRefusal } from './tool-call.retry.js';
import type { ToolCallState, ToolCallStatus } from './tool-call.state.js';

/**
 * The machine of state-machines §4 as data, complete: an event that a row does not name for a status never follows
 * it, and every command has an answer in every situation. `decide` and `evolve` do not read these tables; the spec
 * proves that they agree with them in every cell.
 */

/** (status, event type) → the next status. */
export const TOOL_CALL_EDGES: Readonly<Record<EventTypeIn<'call'>, Edges<ToolCallStatus>>> = {
  'tool.call.proposed': to('proposed', 'none'),
  'policy.decided': stay('proposed', 'authorized', 'failed', 'manual_handoff', 'not_executed'),
  'capability.authorized': to('authorized', 'proposed'),
  'capability.authorization_withdrawn': to('proposed', 'authorized'),
  'tool.call.denied': to('denied', 'proposed'),
  'tool.call.not_executed': to('not_executed', 'proposed', 'authorized'),
  'tool.call.dispatching': to('dispatching', 'authorized'),
  'tool.call.dispatched': to('dispatched', 'dispatching'),
  'tool.call.accepted': to('accepted', 'dispatching', 'dispatched'),
  'tool.call.completed': to('completed', 'accepted', 'result_unknown', 'reconciling'),
  'tool.call.failed': to('failed', 'dispatching', 'dispatched', 'accepted', 'result_unknown', 'reconciling'),
  'tool.call.result_unknown': to('result_unknown', 'proposed', 'authorized', 'dispatching', 'dispatched', 'accepted'),
  'tool.cancellation_requested': stay('dispatching', 'dispatched', 'accepted'),
  'tool.cancelled': stay('dispatched', 'accepted'),
  external_action_irreversible: stay('dispatching', 'dispatched', 'accepted'),
  'reconciliation.started': to('reconciling', 'result_unknown'),
  'reconciliation.attempted': stay('reconciling'),
  'reconciliation.resolved': stay('result_unknown', 'reconciling'),
  'tool.call.manual_handoff': to('manual_handoff', 'result_unknown', 'reconciling'),
  'manual.handoff_opened': stay('manual_handoff'),
  'manual.finding_recorded': stay('manual_handoff'),
  'manual.handoff_resolved': stay('manual_handoff'),
  'tool.call.retry_accepted': to('proposed', 'failed', 'manual_handoff', 'not_executed'),
  'tool.call.callback_received': {
    ...stay('proposed', 'authorized', 'dispatching', 'dispatched', 'accepted', 'result_unknown', 'reconciling'),
    ...stay('completed', 'failed', 'manual_handoff', 'denied', 'not_executed'),
  },
  'tool.call.callback_ignored': {
    ...stay('proposed', 'authorized', 'dispatching', 'dispatched', 'accepted', 'result_unknown', 'reconciling'),
    ...stay('completed', 'failed', 'manual_handoff', 'denied', 'not_executed'),
  },
  'compensation.requested': stay('completed', 'failed', 'manual_handoff'),
  'tool.call.contradiction_recorded': stay('completed', 'failed', 'manual_handoff', 'denied', 'not_executed'),
};

/** The statuses, split where a command asks for more than the status. The order of the columns below. */
export const SITUATIONS = [
  'none',
  'proposed',
  'authorized',
  'dispatching',
  'dispatched',
  'accepted',
  'result_unknown',
  'reconciling',
  'completed',
  'failed_retryable',
  'failed_for_good',
  'handoff_open',
  'handoff_not_happened',
  'handoff_other_finding',
  'denied',
  'not_executed',
  'not_executed_contested',
] as const;
export type Situation = (typeof SITUATIONS)[number];

export function situationOf(state: ToolCallState | null): Situation {
  if (state === null) return 'none';
  switch (state.status) {
    case 'failed':
      return retryRefusal(state) === null ? 'failed_retryable' : 'failed_for_good';
    case 'manual_handoff':
      if (state.resolution === null) return 'handoff_open';
      return provenNoEffect(state) && !state.contradicted ? 'handoff_not_happened' : 'handoff_other_finding';
    case 'not_executed':
      return state.contradicted ? 'not_executed_contested' : state.status;
    case 'proposed':
    case 'authorized':
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
    case 'result_unknown':
    case 'reconciling':
    case 'completed':
    case 'denied':
      return state.status;
  }
}

const yes = 'allowed';
const dup = 'duplicate_id';
const abs = 'tool_call_not_found';
const not = 'tool_call_not_ready';
const end = 'tool_call_already_ended';
const unk = 'retry_forbidden_result_unknown';
const rna = 'retry_not_allowed';
const hno = 'handoff_not_open';
const evi = 'evidence_required';
const exp = 'approval_expired';
const cns = 'cancel_not_supported';
const nop = 'compensation_not_possible';

export type Answer = 'allowed' | ErrorCode;
type Row = PerItem<typeof SITUATIONS, Answer>;

/**
 * (command, situation) → allowed, or the code of the refusal. A command whose content matters has a row per kind of
 * content; the spec builds each of them. Columns: none · proposed authorized · dispatching dispatched accepted ·
 * result_unknown reconciling · completed · failed: retryable, for good · handoff: open, not_happened, other finding ·
 * denied · not_executed: plain, contested by evidence.
 */
// prettier-ignore
export const TOOL_CALL_ANSWERS = {
  propose: {
    any:                        [yes,  dup, dup,  dup, dup, dup,  dup, dup,  dup,  dup, dup,  dup, dup, dup,  dup,  dup,  dup],
  },
  record_decision: {
    propose:                    [abs,  yes, not,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    vote:                       [abs,  yes, not,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    dispatch:                   [abs,  not, yes,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    retry:                      [abs,  yes, rna,  rna, rna, rna,  unk, unk,  rna,  yes, rna,  rna, yes, rna,  rna,  yes,  rna],
  },
  authorize: {
    any:                        [abs,  yes, not,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  deny: {
    by_policy:                  [abs,  yes, not,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    by_people:                  [abs,  yes, not,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    by_precondition:            [abs,  yes, not,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    by_policy_at_dispatch:      [abs,  yes, yes,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    by_a_refusal:               [abs,  yes, yes,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  close: {
    any:                        [abs,  yes, yes,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  withdraw: {
    any:                        [abs,  not, yes,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  dispatch: {
    in_time:                    [abs,  not, yes,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    past_execute_by:            [abs,  not, exp,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    past_execute_before:        [abs,  not, exp,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  record_sent: {
    any:                        [abs,  not, not,  yes, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  record_acceptance: {
    any:                        [abs,  not, not,  yes, yes, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  complete: {
    any:                        [abs,  not, not,  yes, yes, yes,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  fail: {
    never_sent:                 [abs,  not, not,  yes, yes, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    rejected:                   [abs,  not, not,  yes, yes, yes,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    with_effect:                [abs,  not, not,  yes, yes, yes,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    by_callback:                [abs,  not, not,  yes, yes, yes,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  mark_unknown: {
    any:                        [abs,  not, not,  yes, yes, yes,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    restored:                   [abs,  yes, yes,  yes, yes, yes,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  start_reconciliation: {
    any:                        [abs,  not, not,  not, not, not,  yes, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  record_query: {
    any:                        [abs,  not, not,  not, not, not,  not, yes,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  resolve_happened: {
    by_callback:                [abs,  not, not,  not, not, not,  yes, yes,  end,  end, end,  end, end, end,  end,  end,  end],
    by_reconciliation:          [abs,  not, not,  not, not, not,  not, yes,  end,  end, end,  end, end, end,  end,  end,  end],
    without_evidence:           [abs,  not, not,  not, not, not,  evi, evi,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  resolve_failed: {
    by_callback:                [abs,  not, not,  not, not, not,  yes, yes,  end,  end, end,  end, end, end,  end,  end,  end],
    by_reconciliation:          [abs,  not, not,  not, not, not,  not, yes,  end,  end, end,  end, end, end,  end,  end,  end],
    without_evidence:           [abs,  not, not,  not, not, not,  evi, evi,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  hand_off: {
    any:                        [abs,  not, not,  not, not, not,  yes, yes,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  record_finding: {
    with_evidence:              [abs,  hno, hno,  hno, hno, hno,  hno, hno,  hno,  hno, hno,  yes, hno, hno,  hno,  hno,  hno],
    unknowable:                 [abs,  hno, hno,  hno, hno, hno,  hno, hno,  hno,  hno, hno,  yes, hno, hno,  hno,  hno,  hno],
    without_evidence:           [abs,  hno, hno,  hno, hno, hno,  hno, hno,  hno,  hno, hno,  evi, hno, hno,  hno,  hno,  hno],
    of_another_handoff:         [abs,  hno, hno,  hno, hno, hno,  hno, hno,  hno,  hno, hno,  hno, hno, hno,  hno,  hno,  hno],
  },
  resolve_handoff: {
    with_evidence:              [abs,  hno, hno,  hno, hno, hno,  hno, hno,  hno,  hno, hno,  yes, hno, hno,  hno,  hno,  hno],
    unknowable:                 [abs,  hno, hno,  hno, hno, hno,  hno, hno,  hno,  hno, hno,  yes, hno, hno,  hno,  hno,  hno],
    without_evidence:           [abs,  hno, hno,  hno, hno, hno,  hno, hno,  hno,  hno, hno,  evi, hno, hno,  hno,  hno,  hno],
    of_another_handoff:         [abs,  hno, hno,  hno, hno, hno,  hno, hno,  hno,  hno, hno,  hno, hno, hno,  hno,  hno,  hno],
  },
  accept_retry: {
    any:                        [abs,  rna, rna,  rna, rna, rna,  unk, unk,  rna,  yes, rna,  rna, yes, rna,  rna,  yes,  rna],
  },
  record_callback: {
    any:                        [abs,  yes, yes,  yes, yes, yes,  yes, yes,  yes,  yes, yes,  yes, yes, yes,  yes,  yes,  yes],
  },
  ignore_callback: {
    any:                        [abs,  yes, yes,  yes, yes, yes,  yes, yes,  yes,  yes, yes,  yes, yes, yes,  yes,  yes,  yes],
  },
  record_contradiction: {
    any:                        [abs,  not, not,  not, not, not,  not, not,  yes,  yes, yes,  yes, yes, yes,  yes,  yes,  yes],
  },
  request_cancellation: {
    any:                        [abs,  not, not,  yes, yes, yes,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    of_what_cannot_be_stopped:  [abs,  not, not,  cns, cns, cns,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  acknowledge_cancellation: {
    asked_and_sent:             [abs,  not, not,  yes, yes, yes,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    asked_but_not_known_sent:   [abs,  not, not,  not, yes, yes,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
    never_asked:                [abs,  not, not,  not, not, not,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  record_irreversible: {
    any:                        [abs,  not, not,  yes, yes, yes,  not, not,  end,  end, end,  end, end, end,  end,  end,  end],
  },
  request_compensation: {
    of_a_known_effect:          [abs,  nop, nop,  nop, nop, nop,  nop, nop,  yes,  yes, yes,  yes, yes, yes,  nop,  nop,  nop],
    of_no_known_effect:         [abs,  nop, nop,  nop, nop, nop,  nop, nop,  yes,  nop, nop,  nop, nop, nop,  nop,  nop,  nop],
    a_second_time:              [abs,  dup, dup,  dup, dup, dup,  dup, dup,  dup,  dup, dup,  dup, dup, dup,  dup,  dup,  dup],
    of_a_read:                  [abs,  nop, nop,  nop, nop, nop,  nop, nop,  nop,  nop, nop,  nop, nop, nop,  nop,  nop,  nop],
  },
} as const satisfies Readonly<Record<ToolCallCommandKind, Readonly<Record<string, Row>>>>;
