import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { governed, said } from '../../../../test/builders/session-facts.js';
import { emptyAgentState, foldAgentState } from '../agent-state.js';
import type { HistoryMessage } from '../session-state.js';
import { toolCallsPaired } from './tool-pairing.js';
import { truncateToPaired } from './truncate-to-paired.js';

const AT = '2031-01-01T00:00:00.000Z';
const contents = [{ type: 'text', text: 'x' }];
const never = (): boolean => false;
const sent =
  (...ids: string[]) =>
  (callId: string): boolean =>
    ids.includes(callId);

const user = (messageId = 'u'): HistoryMessage => ({ messageId, role: 'user', contents, createdAt: AT });
const asks = (...ids: string[]): HistoryMessage => ({
  messageId: `a-${ids.join()}`,
  role: 'assistant',
  contents: [],
  toolCalls: ids.map((callId) => ({ callId, name: 'pay', arguments: {} })),
  createdAt: AT,
});
const answers = (callId: string): HistoryMessage => ({
  messageId: `t-${callId}`,
  role: 'tool',
  contents,
  callId,
  disposition: 'completed',
  createdAt: AT,
});

describe('truncating to a paired history', () => {
  it('drops from the end until every call has its answer, on a copy [A-98, A-122]', () => {
    const messages = [user(), asks('1'), answers('1'), asks('2')];
    const before = [...messages];
    const { messages: kept, dropped } = truncateToPaired(messages, never);
    expect(kept).toEqual(messages.slice(0, 3));
    expect(dropped).toEqual(['a-2']);
    expect(messages).toEqual(before);
  });

  it('drops everything where nothing is paired [A-98]', () => {
    expect(truncateToPaired([asks('1')], never)).toEqual({ messages: [], dropped: ['a-1'], answered: [] });
  });

  it('changes nothing of a paired history', () => {
    const messages = [user(), asks('1'), answers('1')];
    expect(truncateToPaired(messages, never)).toEqual({ messages, dropped: [], answered: [] });
  });

  it('drops an answered half of a batch with its other half, rather than keep it broken [A-99]', () => {
    const { messages, dropped } = truncateToPaired([user(), asks('1', '2'), answers('1')], never);
    expect(messages).toEqual([user()]);
    expect(dropped).toEqual(['a-1,2', 't-1']);
  });

  it('never drops a call that was sent: it is told that its result is not known [A-99, U-03]', () => {
    const { messages, dropped, answered } = truncateToPaired([user(), asks('1'), answers('1'), asks('2')], sent('2'));
    expect(dropped).toEqual([]);
    expect(answered).toEqual([{ callId: '2', disposition: 'result_unknown' }]);
    expect(messages.at(-1)).toMatchObject({ role: 'tool', callId: '2', disposition: 'result_unknown' });
    expect(messages.slice(0, 4)).toEqual([user(), asks('1'), answers('1'), asks('2')]);
  });

  it('keeps the answer of a call that was sent, and drops what is open behind it', () => {
    const messages = [asks('1'), answers('1'), user('u2'), asks('2'), user('u3')];
    const { messages: kept, dropped } = truncateToPaired(messages, sent('1'));
    expect(kept).toEqual(messages.slice(0, 3));
    expect(dropped).toEqual(['a-2', 'u3']);
  });

  it('says of a call beside one that was sent, that it was not carried out', () => {
    const { messages, answered } = truncateToPaired([asks('1', '2', '3'), answers('2')], sent('3'));
    expect(answered).toEqual([
      { callId: '1', disposition: 'not_executed' },
      { callId: '3', disposition: 'result_unknown' },
    ]);
    expect(messages.map(({ callId }) => callId)).toEqual([undefined, '2', '1', '3']);
  });

  it('takes an orphaned answer out of the part that has to stay', () => {
    const { messages, dropped } = truncateToPaired([answers('9'), asks('1'), answers('1')], sent('1'));
    expect(dropped).toEqual(['t-9']);
    expect(messages).toEqual([asks('1'), answers('1')]);
  });

  it('gives a paired history of any, keeps what was sent, and loses nothing unnamed', () => {
    const piece = fc.oneof(
      fc.nat(5).map((n) => user(`u${n}`)),
      fc.uniqueArray(fc.constantFrom('1', '2', '3', '4'), { minLength: 1, maxLength: 3 }).map((ids) => asks(...ids)),
      fc.constantFrom('1', '2', '3', '4').map(answers),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.subarray(['1', '2', '3', '4']), (pieces, ids) => {
        const messages = pieces.map((message, index) => ({ ...message, messageId: `m${index}` }));
        const { messages: kept, dropped, answered } = truncateToPaired(messages, sent(...ids));
        expect(toolCallsPaired(kept, false)).toBe(true);
        expect(kept.length + dropped.length).toBe(messages.length + answered.length);
        for (const message of messages) {
          const hasSent = (message.toolCalls ?? []).some(({ callId }) => ids.includes(callId));
          if (hasSent) expect(kept).toContainEqual(message);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('gives what the recorded truncation makes of the state [U-03]', () => {
    const calls = ['1', '2'].map((callId) => ({ callId, name: 'pay', arguments: {} }));
    const turn = { runId: 'run-1', turnId: 't', stepId: 's' };
    const state = foldAgentState(emptyAgentState('ses-1'), [
      said(0, 'user.message', { messageId: 'u', contents }),
      said(1, 'assistant.message', { messageId: 'a1', contents: [], toolCalls: calls }, turn),
      said(2, 'assistant.message', { messageId: 'a2', contents, toolCalls: [{ callId: '3', name: 'pay' }] }, turn),
    ]);
    const { messages, dropped, answered } = truncateToPaired(state.history.messages, sent('1'));
    const payload = { droppedMessageIds: [...dropped], reason: 'suspended', answers: [...answered] };
    const after = foldAgentState(state, [governed(3, 'session.history_truncated', payload)]);
    expect(after.history.messages).toEqual(messages);
    expect(dropped).toEqual(['a2']);
    expect(messages.map(({ disposition }) => disposition)).toEqual([
      undefined,
      undefined,
      'result_unknown',
      'not_executed',
    ]);
  });
});
