import { describe, expect, it } from '@jest/globals';
import {
  asked,
  at,
  breakGlassCommand,
  delegateCommand,
  editCommand,
  escalateCommand,
  EVA,
  FAY,
  FRED,
  person,
  reviewCommand,
  voteCommand,
} from '../../../test/builders/approval-examples.js';
import type { DomainEvent } from '../events/catalogue.js';
import { approvalFacts, escalateAt, owesReview } from './approval-progress.js';
import type { ApprovalCommand } from './approval.commands.js';
import { decideApproval } from './approval.decide.js';
import { foldApproval } from './approval.evolve.js';
import type { ApprovalState } from './approval.state.js';

function eventsOf(state: ApprovalState, command: ApprovalCommand): readonly DomainEvent[] {
  const decided = decideApproval(state, command);
  if (!decided.ok) throw new Error(`${decided.code}: ${decided.message}`);
  return decided.events;
}
const after = (state: ApprovalState, ...commands: readonly ApprovalCommand[]): ApprovalState =>
  commands.reduce((now, command) => foldApproval(now, eventsOf(now, command)) ?? now, state);
const typesOf = (state: ApprovalState, command: ApprovalCommand): string[] =>
  eventsOf(state, command).map(({ type }) => type);

const DORA = person('dora');
const BEA = person('bea', 'board');

describe('a right that is lent', () => {
  it('is recorded with whose it is, for what and until when, never longer than the question', () => {
    expect(eventsOf(asked(), delegateCommand(FAY, { until: at('23:00:00') }))).toEqual([
      {
        type: 'approval.delegated',
        payload: { by: { sub: 'fay' }, to: 'dora', groups: ['finance'], until: at('11:00:00'), reason: 'away today' },
      },
    ]);
  });

  it('lets the other person decide, and the vote says on whose behalf', () => {
    const [vote] = eventsOf(after(asked(), delegateCommand(FAY)), voteCommand(DORA, 'allow'));
    expect(vote?.payload).toMatchObject({ by: { sub: 'dora' }, groups: ['finance'], onBehalfOf: ['fay'] });
  });

  it('counts once: the one who lent it adds nobody to the quorum', () => {
    const state = after(asked(), delegateCommand(FAY), voteCommand(DORA, 'allow'), voteCommand(FAY, 'allow'));
    expect(state.status).toBe('pending');
    expect(after(state, voteCommand(FRED, 'allow')).status).toBe('granted');
  });
});

describe('a question that is widened', () => {
  const waiting = asked({
    groups: [
      { group: 'finance', count: 2, notRequester: true, escalation: { group: 'board', at: at('10:30:00') } },
      { group: 'legal', count: 1, notRequester: true, escalation: { group: 'board', at: at('10:20:00') } },
    ],
  });

  it('by an approver lets the wider group decide for the group that was asked', () => {
    const state = after(asked(), escalateCommand(FAY), voteCommand(BEA, 'allow'));
    expect(state.votes).toEqual([{ sub: 'bea', decision: 'allow', groups: ['finance'] }]);
    expect(approvalFacts(state)).toEqual({ finance: { count: 1, includesRequester: false } });
  });

  it('by the policy is widened at its time, rule by rule', () => {
    expect(escalateAt(waiting)).toBe(at('10:20:00'));
    const once = after(waiting, { kind: 'escalate_due', now: at('10:20:00') });
    expect(once.escalations).toEqual([{ group: 'legal', to: 'board' }]);
    expect(escalateAt(once)).toBe(at('10:30:00'));
    const twice = after(once, { kind: 'escalate_due', now: at('10:45:00') });
    expect(escalateAt(twice)).toBeNull();
  });

  it('that has waited for both is widened by one fact for one group', () => {
    expect(eventsOf(waiting, { kind: 'escalate_due', now: at('10:40:00') })).toEqual([
      { type: 'approval.escalated', payload: { cause: 'timer', groups: ['finance', 'legal'], to: 'board' } },
    ]);
  });

  it('is not widened once it is decided', () => {
    const denied = after(waiting, voteCommand(FAY, 'deny'));
    expect(escalateAt(denied)).toBeNull();
  });
});

describe('an emergency', () => {
  it('grants alone, names who did it, and owes a review', () => {
    expect(typesOf(asked(), breakGlassCommand(EVA))).toEqual(['approval.break_glass_used', 'approval.granted']);
    const state = after(asked(), breakGlassCommand(EVA));
    expect(state).toMatchObject({ status: 'granted', decidedBy: ['eva'], breakGlass: { by: 'eva' } });
    expect(owesReview(state)).toBe(true);
  });

  it('stands for what was asked, while it is to be had', () => {
    const state = after(asked(), breakGlassCommand(EVA));
    expect(approvalFacts(state)).toEqual({ finance: { count: 2, includesRequester: false } });
    const used = after(state, { kind: 'consume', consumption: { attempt: 1, nonce: 'n' }, now: at('10:01:00') });
    expect(approvalFacts(used)).toEqual({ finance: { count: 0, includesRequester: false } });
  });

  it('is reviewed once, by another person, also after it was used', () => {
    const used = after(asked(), breakGlassCommand(EVA), {
      kind: 'consume',
      consumption: { attempt: 1, nonce: 'n' },
      now: at('10:01:00'),
    });
    const reviewed = after(used, reviewCommand(FRED));
    expect(reviewed).toMatchObject({ status: 'consumed', review: { by: 'fred', finding: 'justified' } });
    expect(owesReview(reviewed)).toBe(false);
  });
});

describe('arguments that an approver changes', () => {
  it('close the question about the old ones and name the new call', () => {
    expect(eventsOf(asked(), editCommand(FAY))).toEqual([
      {
        type: 'approval.edited',
        payload: { by: { sub: 'fay' }, consentDigest: 'sha256:consent', reason: 'half of it', newToolCallId: 'call_2' },
      },
      { type: 'approval.closed', payload: { reason: 'superseded' } },
    ]);
  });
});
