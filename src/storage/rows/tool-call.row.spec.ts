import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  HANDOFF_FINDINGS,
  KNOWN_EFFECTS,
  NOT_EXECUTED_REASONS,
  RECONCILIATION_STRATEGIES,
  UNKNOWN_CAUSES,
} from '../../domain/events/catalogue.js';
import { EFFECTS, RISKS } from '../../domain/tool-call/tool-call.state.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import type { TableRow } from './tables.js';
import { toolCallFacts, toolCallRow, toolCallState } from './tool-call.row.js';
import type { ToolCallFacts } from './tool-call.row.js';

const text = fc.string();
const words = <const W extends readonly string[]>(list: W): fc.Arbitrary<W[number]> => fc.constantFrom(...list);
const nullable = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.option(arbitrary, { nil: null });

const life = {
  capability: text,
  capabilityVersion: text,
  manifestDigest: text,
  effect: words(EFFECTS),
  risk: words(RISKS),
  principal: fc.oneof(fc.record({ sub: text }), fc.record({ sub: text, act: text })),
  argsDigest: text,
  intentDigest: text,
  downstreamKey: text,
  executeBefore: nullable(text),
  attempt: fc.integer({ min: 1, max: 9 }),
  cancellationRequested: fc.boolean(),
  contradicted: fc.boolean(),
  reserved: fc.option(fc.array(fc.record({ key: fc.string(), add: fc.nat(), max: fc.nat() }), { minLength: 1 })),
  cancelBy: fc.option(fc.constant('2031-01-01T10:00:20.000Z')),
  irreversible: fc.option(fc.constant('not_supported')),
  compensates: fc.option(fc.constant('call_9')),
  compensatedBy: fc.option(fc.constant('call_8')),
  externalRequestId: nullable(text),
};
const carrying = { nonce: text, fence: fc.nat(), owner: text, ownerEpoch: fc.nat(), deadline: text };

const states: fc.Arbitrary<ToolCallState> = fc.oneof(
  fc.record({ ...life, status: fc.constant('proposed' as const) }),
  fc.record({
    ...life,
    status: fc.constant('authorized' as const),
    basis: words(['policy', 'approval']),
    executeBy: text,
  }),
  fc.record({ ...life, ...carrying, status: words(['dispatching', 'dispatched', 'accepted']) }),
  fc.record({ ...life, ...carrying, status: fc.constant('result_unknown' as const), cause: words(UNKNOWN_CAUSES) }),
  fc.record({
    ...life,
    ...carrying,
    status: fc.constant('reconciling' as const),
    cause: words(UNKNOWN_CAUSES),
    strategy: words(RECONCILIATION_STRATEGIES),
    reconciliationDeadline: text,
    queries: fc.nat(),
    nextQueryAt: nullable(text),
  }),
  fc.record({
    ...life,
    status: fc.constant('completed' as const),
    resultBasis: words(['direct', 'callback', 'reconciliation']),
  }),
  fc.record({
    ...life,
    status: fc.constant('failed' as const),
    code: text,
    knownEffect: words(KNOWN_EFFECTS),
    retryable: fc.boolean(),
  }),
  fc.record({
    ...life,
    status: fc.constant('manual_handoff' as const),
    handoffId: nullable(text),
    resolution: nullable(fc.record({ finding: words(HANDOFF_FINDINGS), evidenceRefs: fc.constant<string[]>([]) })),
  }),
  fc.record({
    ...life,
    status: fc.constant('denied' as const),
    deniedBy: words(['policy', 'approval', 'policy_at_dispatch', 'precondition']),
  }),
  fc.record({ ...life, status: fc.constant('not_executed' as const), reason: words(NOT_EXECUTED_REASONS) }),
);

const facts: fc.Arbitrary<ToolCallFacts> = fc.record({
  tool_call_id: text,
  tenant: text,
  run_id: text,
  session_id: text,
  turn_id: nullable(text),
  call_id: nullable(text),
  correlation_id: text,
  reasoning_object_id: nullable(text),
  skill_id: nullable(text),
  version: fc.nat(),
  policy_decision_id: nullable(text),
  policy_revision: nullable(text),
  approval_id: nullable(text),
  lease_id: nullable(text),
  proposed_event_id: text,
  decided_event_id: nullable(text),
  settled_event_id: nullable(text),
  resolution_event_id: nullable(text),
  last_event_id: text,
  created_at: text,
  updated_at: text,
});

/** The row of the attempt that a state is carried by. */
function attemptOf(row: TableRow<'tool_calls'>, state: ToolCallState): TableRow<'attempts'> | null {
  if (!('nonce' in state)) return null;
  return {
    tool_call_id: row.tool_call_id,
    attempt: row.attempt,
    tenant: row.tenant,
    nonce: state.nonce,
    fence: state.fence,
    owner: state.owner,
    owner_epoch: state.ownerEpoch,
    deadline: state.deadline,
    dispatch_intent_at: '2031-01-01T00:00:00.000Z',
    state: 'dispatching',
    settled_at: null,
  };
}

describe('the row of a tool call', () => {
  it('gives every state back', () => {
    fc.assert(
      fc.property(facts, states, (given, state) => {
        const row = toolCallRow(given, state);
        expect(toolCallState(row, attemptOf(row, state))).toEqual(state);
      }),
      { numRuns: 500 },
    );
  });

  it('gives the facts back that are no part of the state', () => {
    fc.assert(
      fc.property(facts, states, (given, state) => expect(toolCallFacts(toolCallRow(given, state))).toEqual(given)),
    );
  });

  it('follows from facts and state alone: the row that was there before leaves no trace', () => {
    fc.assert(
      fc.property(facts, states, states, (given, before, after) => {
        const carried = toolCallFacts(toolCallRow(given, before));
        expect(toolCallRow(carried, after)).toEqual(toolCallRow(given, after));
      }),
    );
  });

  it('refuses a call on the wire without the row of its current attempt', () => {
    const onTheWire = states.filter((state) => 'nonce' in state);
    fc.assert(
      fc.property(facts, onTheWire, (given, state) => {
        const row = toolCallRow(given, state);
        const attempt = attemptOf(row, state);
        expect(() => toolCallState(row, null)).toThrow('current attempt');
        expect(() => toolCallState(row, attempt && { ...attempt, attempt: row.attempt + 1 })).toThrow(
          'current attempt',
        );
      }),
    );
  });

  it.each([
    ['authorized', 'authorization_basis'],
    ['result_unknown', 'status_reason'],
    ['completed', 'result_basis'],
    ['failed', 'known_effect'],
    ['denied', 'status_reason'],
    ['not_executed', 'status_reason'],
  ] as const)('refuses a row that is %s and lacks its %s', (status, column) => {
    const one = fc.sample(
      fc.tuple(
        facts,
        states.filter((state) => state.status === status),
      ),
      { seed: 1, numRuns: 1 },
    );
    const [given, state] = one[0] as [ToolCallFacts, ToolCallState];
    const row = { ...toolCallRow(given, state), [column]: null };
    expect(() => toolCallState(row, attemptOf(row, state))).toThrow(`column ${column} is null`);
  });
});
