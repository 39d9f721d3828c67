import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cursorOf, pageEndOf } from './cursor.js';

describe('a cursor', () => {
  it('gives back where its page ended, and is fit for an address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (createdAt, id) => {
        const cursor = cursorOf({ createdAt, id });
        expect(pageEndOf(cursor)).toEqual({ createdAt, id });
        expect(cursor).toMatch(/^[\w-]+$/);
      }),
    );
  });

  const refusal = expect.objectContaining({ code: 'invalid_request', details: { pointer: '/cursor' } });

  it('is refused when it is some other text', () => {
    const notOurs = fc.string().filter((text) => !/^[\w-]*$/.test(text) || text.length < 8);
    fc.assert(fc.property(notOurs, (text) => expect(() => pageEndOf(text)).toThrow(refusal)));
  });

  it.each(['["a"]', '["a","b","c"]', '[1,2]', '["a",null]', '{"0":"a","1":"b"}', 'null'])(
    'is refused when it holds %s',
    (json) => {
      expect(() => pageEndOf(Buffer.from(json).toString('base64url'))).toThrow(refusal);
    },
  );
});
