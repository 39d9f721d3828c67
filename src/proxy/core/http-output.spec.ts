import { describe, expect, it } from '@jest/globals';
import { gzipSync } from 'node:zlib';
import type { JsonValue } from '../../domain/json/json-value.js';
import { outputOf, parsedBody, type OutputRules, type OutputSource } from './http-output.js';

const undeclared: OutputRules = {
  validateOutput: null,
  parseBody: (bytes) => {
    try {
      return { ok: true, value: JSON.parse(Buffer.from(bytes).toString('utf8')) as JsonValue };
    } catch {
      return { ok: false };
    }
  },
};
const declared: OutputRules = { ...undeclared, validateOutput: () => null };

function source(body: string | Uint8Array, headers: Record<string, string> = {}, bodyTruncated = false): OutputSource {
  return { headers, body: typeof body === 'string' ? new TextEncoder().encode(body) : body, bodyTruncated };
}

function json(body: string): OutputSource {
  return source(body, { 'content-type': 'application/json; charset=utf-8' });
}

describe('outputOf', () => {
  it('takes JSON as it is, whatever the media type says of an object or a list', () => {
    expect(outputOf(json('{"a":[1,null]}'), undeclared)).toEqual({ ok: true, value: { a: [1, null] } });
    expect(outputOf(source('{"a":1}', { 'content-type': 'text/plain' }), undeclared)).toEqual({
      ok: true,
      value: { a: 1 },
    });
    expect(outputOf(source('7'), undeclared)).toEqual({ ok: true, value: 7 });
  });

  it('takes a scalar in plain text for text, unless an output is declared', () => {
    const plain = source('42', { 'content-type': 'text/plain' });
    expect(outputOf(plain, undeclared)).toEqual({ ok: true, value: '42' });
    expect(outputOf(plain, declared)).toEqual({ ok: true, value: 42 });
  });

  it('gives text that is no JSON back unchanged, NUL and byte order mark included', () => {
    expect(outputOf(source('a\u0000b', { 'content-type': 'text/plain' }), undeclared)).toEqual({
      ok: true,
      value: 'a\u0000b',
    });
    expect(outputOf(source('\ufeffdone'), undeclared)).toEqual({ ok: true, value: '\ufeffdone' });
    expect(outputOf(json('"a\\u0000b"'), undeclared)).toEqual({ ok: true, value: 'a\u0000b' });
  });

  it('keeps bytes that are no UTF-8 as base64', () => {
    expect(outputOf(source(Uint8Array.of(0xff, 0x00), { 'content-type': 'image/png' }), undeclared)).toEqual({
      ok: true,
      value: { base64: '/wA=' },
    });
  });

  it.each([['{"a":'], ['[1,2'], ['"half'], ['{"a":1}{"b":2}']])(
    'refuses %j, which says or seems to be JSON and is not',
    (body) => {
      expect(outputOf(json(body), undeclared)).toEqual({ ok: false, cause: 'output_unreadable' });
      expect(outputOf(source(body, { 'content-type': 'application/problem+json' }), undeclared).ok).toBe(false);
      expect(outputOf(source(`\n ${body}`), undeclared).ok).toBe(false);
    },
  );

  it('keeps whole JSON that the strict parser refuses as the text it is', () => {
    const strict: OutputRules = { validateOutput: null, parseBody: () => ({ ok: false }) };
    for (const body of ['{"id":9007199254740993}', '{"a":1,"a":2}', '\ufeff{}']) {
      expect(outputOf(json(body), strict)).toEqual({ ok: true, value: body });
      expect(outputOf(json(body), { ...strict, validateOutput: () => null }).ok).toBe(false);
    }
  });

  it('does not read an encoded body: no bomb goes off, and no JSON is claimed', () => {
    const bomb = gzipSync(Buffer.alloc(5_000_000));
    const encoded = source(bomb, { 'content-type': 'application/json', 'content-encoding': 'gzip' });
    expect(outputOf(encoded, declared)).toEqual({ ok: false, cause: 'output_unreadable' });
    expect(outputOf(encoded, undeclared)).toEqual({ ok: true, value: { base64: bomb.toString('base64') } });
    expect(parsedBody(source('{}', { 'content-encoding': 'gzip' }), undeclared).ok).toBe(false);
    expect(parsedBody(source('{}', { 'content-encoding': 'Identity' }), undeclared).ok).toBe(true);
  });

  it('gives what was read of a truncated body when nothing is declared, whole characters only', () => {
    expect(outputOf(source('{"a":"bc', { 'content-type': 'application/json' }, true), undeclared)).toEqual({
      ok: true,
      value: '{"a":"bc',
    });
    const party = new TextEncoder().encode('aa🎉');
    for (const cut of [3, 4, 5]) {
      expect(outputOf(source(party.subarray(0, cut), {}, true), undeclared)).toEqual({ ok: true, value: 'aa' });
    }
  });

  it('cannot judge a truncated body against a declared output', () => {
    expect(outputOf(source('{"a":1}', {}, true), declared)).toEqual({ ok: false, cause: 'output_truncated' });
  });
});
