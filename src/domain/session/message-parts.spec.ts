import { describe, expect, it } from '@jest/globals';
import { assistantToolCalls, messageParts, messageProblem } from './message-parts.js';

const PART = { type: 'text', text: 'x' };
const CALL = { callId: 'c1', name: 'pay', arguments: {} };

describe('a message that is taken in', () => {
  it.each<[string, Parameters<typeof messageProblem>, string | null]>([
    ['contents', [[PART]], null],
    ['calls only [A-84, A-124]', [[], [CALL]], null],
    ['both', [[PART], [CALL]], null],
    ['neither [A-85, A-124]', [[], []], 'message_empty_contents'],
    ['neither, calls not being said', [[]], 'message_empty_contents'],
    ['a part without a type', [[{ text: 'x' }]], 'event_schema_invalid'],
    ['a part that is a text', [['x']], 'event_schema_invalid'],
    ['a call without an id', [[PART], [{ name: 'pay' }]], 'event_schema_invalid'],
    ['two calls of one id', [[PART], [CALL, CALL]], 'event_schema_invalid'],
  ])('with %s', (_, message, problem) => {
    expect(messageProblem(...message)).toBe(problem);
  });
});

describe('parts of a message', () => {
  it('are objects with a type, and nothing is left out', () => {
    expect(messageParts(['hi', 7, null, { a: 1 }, { type: 3, a: 1 }, PART])).toEqual([
      { type: 'text', text: 'hi' },
      { type: 'json', value: 7 },
      { type: 'json', value: null },
      { type: 'json', a: 1 },
      { type: 'json', a: 1 },
      PART,
    ]);
  });
});

describe('calls of a message', () => {
  it('are those with an id, each once, with arguments of any kind', () => {
    expect(assistantToolCalls([CALL, { callId: 'c2' }, CALL, { name: 'x' }, 'c3', null])).toEqual([
      CALL,
      { callId: 'c2', name: '', arguments: null },
    ]);
  });
});
