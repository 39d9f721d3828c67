import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { REVIEW_FINDINGS, type ApprovalState, type Vote } from '../../domain/approval/approval.state.js';
import { RISKS } from '../../domain/tool-call/tool-call.state.js';
import { approvalFacts, approvalRow, approvalState, voteRow } from './approval.row.js';
import type { ApprovalFacts } from './approval.row.js';

const text = fc.string();
const texts = fc.array(text);
const votes: fc.Arbitrary<Vote[]> = fc.array(
  fc.record(
    {
      sub: text,
      decision: fc.constantFrom('allow' as const, 'deny' as const),
      groups: texts,
      onBehalfOf: fc.array(text, { minLength: 1 }),
    },
    { requiredKeys: ['sub', 'decision', 'groups'] },
  ),
);

const base = {
  attempt: fc.nat(),
  risk: fc.constantFrom(...RISKS),
  capability: text,
  capabilityVersion: text,
  manifestDigest: text,
  argsDigest: text,
  consentDigest: text,
  policyRevision: text,
  rules: fc.array(
    fc.record(
      {
        group: text,
        count: fc.nat(),
        notRequester: fc.boolean(),
        escalation: fc.record({ group: text, at: text }),
      },
      { requiredKeys: ['group', 'count', 'notRequester'] },
    ),
  ),
  batchId: fc.option(text),
  delegations: fc.array(fc.record({ from: text, to: text, until: text, groups: texts })),
  escalations: fc.array(fc.record({ group: text, to: text })),
  breakGlass: fc.option(fc.record({ by: text })),
  review: fc.option(fc.record({ by: text, finding: fc.constantFrom(...REVIEW_FINDINGS) })),
  requesterSubjects: texts,
  decideBy: text,
  executionWindowMs: fc.nat(),
  executeByLatest: text,
  votes,
};

const states: fc.Arbitrary<ApprovalState> = fc.oneof(
  fc.record({ ...base, status: fc.constant('pending' as const) }),
  fc.record({
    ...base,
    status: fc.constantFrom('granted' as const, 'consumed' as const),
    executeBy: text,
    decidedBy: texts,
  }),
  fc.record({ ...base, status: fc.constant('denied' as const), decidedBy: texts }),
  fc.record({
    ...base,
    status: fc.constant('expired' as const),
    clock: fc.constantFrom('decide' as const, 'execute' as const),
  }),
  fc.record({ ...base, status: fc.constantFrom('invalidated' as const, 'closed' as const), reason: text }),
);

const facts: fc.Arbitrary<ApprovalFacts> = fc.record({
  approval_id: text,
  tenant: text,
  tool_call_id: text,
  run_id: text,
  session_id: text,
  principal: text,
  version: fc.nat(),
  supersedes_approval_id: fc.option(text, { nil: null }),
  required_event_id: text,
  last_event_id: text,
  created_at: text,
  updated_at: text,
});

const rowsOf = (given: ApprovalFacts, state: ApprovalState) =>
  state.votes.map((vote) =>
    voteRow({ approval_id: given.approval_id, tenant: given.tenant, event_id: 'evt', voted_at: 'then' }, vote),
  );

describe('the row of an approval', () => {
  it('gives every state back, together with the rows of its votes', () => {
    fc.assert(
      fc.property(facts, states, (given, state) => {
        expect(approvalState(approvalRow(given, state), rowsOf(given, state))).toEqual(state);
      }),
      { numRuns: 300 },
    );
  });

  it('gives the facts back that are no part of the state', () => {
    fc.assert(
      fc.property(facts, states, (given, state) => expect(approvalFacts(approvalRow(given, state))).toEqual(given)),
    );
  });

  it('does not count a vote that was withdrawn', () => {
    fc.assert(
      fc.property(facts, states, (given, state) => {
        const withdrawn = rowsOf(given, state).map((row) => ({ ...row, withdrawn: 1 }));
        expect(approvalState(approvalRow(given, state), withdrawn).votes).toEqual([]);
      }),
    );
  });

  it('refuses a grant that lacks its clock', () => {
    const [given, state] = fc.sample(
      fc.tuple(
        facts,
        states.filter(({ status }) => status === 'granted'),
      ),
      { seed: 1, numRuns: 1 },
    )[0] as [ApprovalFacts, ApprovalState];
    expect(() => approvalState({ ...approvalRow(given, state), execute_by: null }, [])).toThrow(
      'column execute_by is null',
    );
  });
});
