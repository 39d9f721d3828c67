import { describe, expect, it } from '@jest/globals';
import { commandIdOf } from './command-id.js';

const none = { 'idempotency-key': undefined };

describe("a client's name for its command", () => {
  it('is the one in the body, else the one in the header, else there is none', () => {
    expect(commandIdOf({ commandId: 'a' }, { 'idempotency-key': 'b' })).toBe('a');
    expect(commandIdOf({}, { 'idempotency-key': 'b' })).toBe('b');
    expect(commandIdOf({}, none)).toBeNull();
  });

  it.each(['', 'a b', 'x'.repeat(256), 'ä'])('is refused in the header as it is in the body: %j', (key) => {
    expect(() => commandIdOf({}, { 'idempotency-key': key })).toThrow(
      expect.objectContaining({ code: 'invalid_idempotency_key' }),
    );
  });
});
