import { describe, expect, it } from '@jest/globals';
import { assistantToolCalls, messageParts } from './message-parts.js';

const PART = { type: 'text', text: 'x' };
const CALL = { callId: 'c1', name: 'pay', arguments: {} };

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
