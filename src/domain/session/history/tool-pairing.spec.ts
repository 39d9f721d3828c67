import { describe, expect, it } from '@jest/globals';
import type { HistoryMessage } from '../session-state.js';
import { openToolCalls, toolCallsPaired } from './tool-pairing.js';

const AT = '2031-01-01T00:00:00.000Z';
const contents = [{ type: 'text', text: 'x' }];
const user: HistoryMessage = { messageId: 'u', role: 'user', contents, createdAt: AT };
const notice: HistoryMessage = { messageId: 'n', role: 'notice', contents, createdAt: AT };
const says: HistoryMessage = { messageId: 'a', role: 'assistant', contents, createdAt: AT };
const asks = (...ids: string[]): HistoryMessage => ({
  ...says,
  messageId: `a-${ids.join()}`,
  contents: [],
  toolCalls: ids.map((callId) => ({ callId, name: 'pay', arguments: {} })),
});
const answers = (callId?: string): HistoryMessage => ({
  messageId: `t-${callId}`,
  role: 'tool',
  contents,
  ...(callId === undefined ? {} : { callId }),
  createdAt: AT,
});

describe('a history is paired', () => {
  it.each<[string, HistoryMessage[]]>([
    ['when it is empty', []],
    ['without calls', [user, says]],
    ['when the call has its answer [A-93]', [user, asks('1'), answers('1')]],
    ['when every call of a message has its answer, in any order', [asks('1', '2'), answers('2'), answers('1')]],
    ['when an id is used again after its answer', [asks('1'), answers('1'), asks('1'), answers('1')]],
    ['when the answer comes behind what a person wrote meanwhile', [asks('1'), user, answers('1')]],
    ['when the open call is in a message that was cut off', [{ ...asks('1'), incomplete: true }, user]],
  ])('%s', (_, messages) => {
    expect(toolCallsPaired(messages, false)).toBe(true);
    expect(toolCallsPaired(messages, true)).toBe(true);
  });
});

describe('a history is not paired', () => {
  it('when a call has no answer [A-93, A-122]', () => {
    expect(toolCallsPaired([user, asks('1')], false)).toBe(false);
    expect(toolCallsPaired([asks('1', '2'), answers('1')], false)).toBe(false);
  });

  it.each<[string, HistoryMessage[]]>([
    ['has no id', [asks('1'), answers('1'), answers()]],
    ['names a call that is not there', [answers('9')]],
    ['is the second one of its call', [asks('1'), answers('1'), answers('1')]],
    ['comes before its call', [answers('1'), asks('1')]],
    ['answers a call that was cut off', [{ ...asks('1'), incomplete: true }, answers('1')]],
  ])('when an answer %s, waiting or not [A-94, A-122]', (_, messages) => {
    expect(toolCallsPaired(messages, false)).toBe(false);
    expect(toolCallsPaired(messages, true)).toBe(false);
  });

  it('when a call id is open twice', () => {
    expect(toolCallsPaired([asks('1'), asks('1'), answers('1')], true)).toBe(false);
  });
});

describe('while the session waits', () => {
  it('the last assistant message may have open calls, also behind some answers and a notice [A-95, A-122, U-02]', () => {
    expect(toolCallsPaired([user, asks('1')], true)).toBe(true);
    expect(toolCallsPaired([asks('1', '2'), answers('2'), notice], true)).toBe(true);
  });

  it.each<[string, HistoryMessage[]]>([
    ['a user message', [asks('1'), user]],
    ['an assistant message', [asks('1'), says]],
    ['an assistant message that waits itself', [asks('1'), asks('2')]],
    ['a message of an unknown role', [asks('1'), { ...user, role: 'observer2' }]],
  ])('a call that is open in front of %s is none of them [A-95]', (_, messages) => {
    expect(toolCallsPaired(messages, true)).toBe(false);
  });
});

it('open calls are told with the message that makes them', () => {
  expect([...openToolCalls([asks('1', '2'), answers('1'), asks('3')])]).toEqual([
    ['2', 0],
    ['3', 2],
  ]);
});
