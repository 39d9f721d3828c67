import { describe, expect, it } from '@jest/globals';
import { schemaProblem } from './append-schema.js';

const PART = { type: 'text', text: 'x' };
const CALL = { callId: 'c1', name: 'pay', arguments: {} };

describe('a message that is taken in', () => {
  it.each<[string, readonly unknown[], readonly unknown[], string | null]>([
    ['contents', [PART], [], null],
    ['calls only [A-84, A-124]', [], [CALL], null],
    ['both', [PART], [CALL], null],
    ['neither [A-85, A-124]', [], [], 'message_empty_contents'],
    ['a part without a type', [{ text: 'x' }], [], 'event_schema_invalid'],
    ['a part that is a text', ['x'], [], 'event_schema_invalid'],
    ['a call without an id', [PART], [{ name: 'pay', arguments: {} }], 'event_schema_invalid'],
    ['a call without arguments', [PART], [{ callId: 'c1', name: 'pay' }], 'event_schema_invalid'],
  ])('with %s', (_, contents, toolCalls, problem) => {
    const refusal = schemaProblem('assistant.message', { messageId: 'm', contents, toolCalls });
    expect(refusal?.code ?? null).toBe(problem);
  });
});
