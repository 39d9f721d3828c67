import { describe, expect, it } from '@jest/globals';
import { APPROVAL_HISTORIES, approvalIn, asked, at, question } from '../../../test/builders/approval-examples.js';
import type { DomainEvent } from '../events/catalogue.js';
import { evolveApproval, foldApproval } from './approval.evolve.js';
import type { ApprovalState } from './approval.state.js';

const QUESTION = {
  attempt: 1,
  risk: 'high',
  capability: 'refund.create',
  capabilityVersion: '1.0.0',
  manifestDigest: 'sha256:manifest',
  argsDigest: 'sha256:args',
  consentDigest: 'sha256:consent',
  policyRevision: 'sha256:policy',
  rules: [{ group: 'finance', count: 2, notRequester: true }],
  requesterSubjects: ['alice', 'agent-7'],
  decideBy: at('11:00:00'),
  executionWindowMs: 900_000,
  executeByLatest: at('18:00:00'),
  batchId: null,
  delegations: [],
  escalations: [],
  breakGlass: null,
  review: null,
};
const VOTES = [
  { sub: 'una', decision: 'allow', groups: ['finance'] },
  { sub: 'ugo', decision: 'allow', groups: ['finance'] },
];
const GRANT = { executeBy: at('10:15:00'), decidedBy: ['una', 'ugo'] };

describe('folding an approval', () => {
  it('keeps in each status exactly what that status has', () => {
    expect(approvalIn('pending')).toEqual({ ...QUESTION, votes: [], status: 'pending' });
    expect(approvalIn('granted')).toEqual({ ...QUESTION, votes: VOTES, status: 'granted', ...GRANT });
    expect(approvalIn('consumed')).toEqual({ ...QUESTION, votes: VOTES, status: 'consumed', ...GRANT });
    expect(approvalIn('denied')).toEqual({
      ...QUESTION,
      votes: [{ sub: 'una', decision: 'deny', groups: ['finance'] }],
      status: 'denied',
      decidedBy: ['una'],
    });
    expect(approvalIn('expired')).toEqual({ ...QUESTION, votes: [], status: 'expired', clock: 'decide' });
    expect(approvalIn('invalidated')).toEqual({
      ...QUESTION,
      votes: VOTES,
      status: 'invalidated',
      reason: 'policy_changed',
    });
    expect(approvalIn('closed')).toEqual({ ...QUESTION, votes: [], status: 'closed', reason: 'stopped' });
  });

  it('replaces the word of a person instead of counting it twice', () => {
    const again: DomainEvent = {
      type: 'approval.vote_recorded',
      payload: { by: { sub: 'una' }, decision: 'deny', groups: ['finance'], consentDigest: 'sha256:consent' },
    };
    expect(evolveApproval(approvalIn('granted'), again).votes).toEqual([
      VOTES[1],
      { sub: 'una', decision: 'deny', groups: ['finance'] },
    ]);
  });

  it('takes only the vote of the person who withdraws it', () => {
    const withdrawn: DomainEvent = { type: 'approval.vote_withdrawn', payload: { by: { sub: 'una' } } };
    expect(evolveApproval(approvalIn('granted'), withdrawn)).toEqual({
      ...QUESTION,
      votes: [VOTES[1]],
      status: 'granted',
      executeBy: at('10:15:00'),
      decidedBy: ['ugo'],
    });
  });

  it('never changes the state it is given', () => {
    for (const history of Object.values(APPROVAL_HISTORIES)) {
      let state: ApprovalState | null = null;
      for (const event of history) {
        const before = structuredClone(state);
        const next: ApprovalState = evolveApproval(state, event);
        expect(state).toEqual(before);
        state = Object.freeze(next);
      }
    }
  });

  it('gives no state for no events', () => {
    expect(foldApproval(null, [])).toBeNull();
  });
});

describe('a history that can not be folded stops the work', () => {
  it.each<[string, ApprovalState | null, DomainEvent]>([
    ['an event of another stream', asked(), { type: 'tool.call.not_executed', payload: { reason: 'stopped' } }],
    ['no question first', null, { type: 'approval.closed', payload: { reason: 'stopped' } }],
    ['used without a grant', asked(), { type: 'approval.consumed', payload: { attempt: 1, nonce: 'n' } }],
    ['a vote of nobody', asked(), { type: 'approval.vote_withdrawn', payload: { by: {} } }],
    ['an unknown risk', null, { type: 'approval.required', payload: question({ risk: 'odd' }) }],
    ['a requester that is no text', null, { type: 'approval.required', payload: question({ requesterSubjects: [1] }) }],
  ])('%s', (_, state, event) => {
    expect(() => evolveApproval(state, event)).toThrow();
  });
});
