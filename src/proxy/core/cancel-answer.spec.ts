import { describe, expect, it } from '@jest/globals';
import { callIn } from '../../../test/builders/tool-call-examples.js';
import { decideToolCall } from '../../domain/tool-call/tool-call.decide.js';
import type { Situation } from '../../domain/tool-call/tool-call.transitions.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import { cancelCommand, readCancelAnswer, type CancelAnswer, type CancelReading } from './cancel-answer.js';

const BY_STATUS: CancelReading = {
  cancelledStatus: [200, 204],
  refusedStatus: [404, 409],
  statusAt: null,
  cancelledWhen: [],
  refusedWhen: [],
};
const BY_WORD: CancelReading = { ...BY_STATUS, statusAt: '/state', cancelledWhen: ['void'], refusedWhen: ['paid'] };

describe('the answer of a tool to a cancellation', () => {
  it.each<[number, CancelAnswer]>([
    [200, 'cancelled'],
    [204, 'cancelled'],
    [409, 'refused'],
    [404, 'refused'],
    [202, 'unanswered'],
    [302, 'unanswered'],
    [400, 'unanswered'],
    [408, 'unanswered'],
    [429, 'unanswered'],
    [500, 'unanswered'],
    [503, 'unanswered'],
  ])('with status %i is %s', (status, answer) => {
    expect(readCancelAnswer(status, undefined, BY_STATUS)).toBe(answer);
  });

  it('is the word where the manifest names one, and nothing where the word is another or missing', () => {
    const words = ['void', 'paid', 'queued', 7, null].map((state) => readCancelAnswer(200, { state }, BY_WORD));
    expect(words).toEqual(['cancelled', 'refused', 'unanswered', 'unanswered', 'unanswered']);
    expect(readCancelAnswer(200, undefined, BY_WORD)).toBe('unanswered');
    expect(readCancelAnswer(409, { state: 'void' }, BY_WORD)).toBe('refused');
  });
});

const after = (
  situation: Exclude<Situation, 'none'>,
  answer: CancelAnswer,
  effect: 'none' | 'partial' = 'none',
): unknown => {
  const wished = { cancellationRequested: true, cancelBy: '2031-01-01T10:00:20.000Z' };
  const base = callIn(situation);
  const state = { ...base, ...wished } as ToolCallState;
  const command = cancelCommand(state, { answer, effect, evidence: { status: 200 } });
  if (command === null) return null;
  const decided = decideToolCall(state, command);
  if (!decided.ok) throw new Error(decided.code);
  return decided.events.map(({ type }) => type);
};

describe('what the answer makes true', () => {
  it.each(['dispatched', 'accepted'] as const)('of a call that is %s', (situation) => {
    expect(after(situation, 'cancelled')).toEqual(['tool.cancelled', 'tool.call.failed']);
    expect(after(situation, 'refused')).toEqual(['external_action_irreversible']);
    expect(after(situation, 'not_sent')).toEqual(['external_action_irreversible']);
    expect(after(situation, 'unanswered')).toEqual(['tool.call.result_unknown']);
  });

  it.each(['result_unknown', 'reconciling'] as const)(
    'of a call that is %s: a confirmation settles it',
    (situation) => {
      expect(after(situation, 'cancelled')).toEqual(['reconciliation.resolved', 'tool.call.failed']);
      expect(after(situation, 'cancelled', 'partial')).toEqual(['reconciliation.resolved', 'tool.call.failed']);
      for (const answer of ['refused', 'not_sent', 'unanswered'] as const) expect(after(situation, answer)).toBeNull();
    },
  );

  it('of a call that has ended: an end never changes, a contradiction is kept', () => {
    expect(after('completed', 'cancelled')).toEqual(['tool.call.contradiction_recorded']);
    expect(after('failed_retryable', 'cancelled')).toBeNull();
    for (const answer of ['refused', 'not_sent', 'unanswered'] as const) expect(after('completed', answer)).toBeNull();
  });

  it('is never something to try again: the unchanged key would meet the same cancellation', () => {
    const state = { ...callIn('dispatched'), cancellationRequested: true } as ToolCallState;
    expect(cancelCommand(state, { answer: 'cancelled', effect: 'none', evidence: {} })).toMatchObject({
      failure: { code: 'cancelled', basis: 'cancelled', effect: 'none', retryable: false },
    });
  });
});
