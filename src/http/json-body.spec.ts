import { describe, expect, it } from '@jest/globals';
import { fastify, type FastifyInstance } from 'fastify';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { acceptStrictJsonOnly } from './json-body.js';

function server(): FastifyInstance {
  const app = fastify();
  acceptStrictJsonOnly(app, settingsWith({ http: { bodyBytesMax: 1024 } }));
  app.setErrorHandler((error: { code?: string }, _request, reply) => reply.code(400).send({ refused: error.code }));
  app.post('/', (request) => ({ body: request.body ?? null }));
  return app;
}

async function post(payload: string | Buffer, headers: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const answer = await server().inject({
    method: 'POST',
    url: '/',
    payload,
    headers: { 'content-type': 'application/json', ...headers },
  });
  return answer.json();
}

describe('the door for request bodies', () => {
  it('lets in one JSON value', async () => {
    expect(await post('{"a":[1,"ü",null]}')).toEqual({ body: { a: [1, 'ü', null] } });
  });

  it.each(['application/json; charset=utf-8', 'application/json;charset="UTF-8"', 'Application/JSON'])(
    'takes the type %s',
    async (type) => {
      expect(await post('{}', { 'content-type': type })).toEqual({ body: {} });
    },
  );

  it.each([
    'text/plain',
    'application/json; charset=latin1',
    'application/x-www-form-urlencoded',
    'application/problem+json',
    'multipart/form-data; boundary=x',
  ])('refuses the type %s', async (type) => {
    expect(await post('{}', { 'content-type': type })).toEqual({ refused: 'FST_ERR_CTP_INVALID_MEDIA_TYPE' });
  });

  it.each([
    ['a duplicate key', '{"a":1,"a":2}'],
    ['a number no double holds', '{"a":9007199254740993}'],
    ['two values', '{} {}'],
    ['nothing but space', ' '],
    ['a comment', '{/* */}'],
    ['half a surrogate pair', '"\\ud800"'],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['a byte order mark', '\ufeff{}'],
    ['the key __proto__', '{"__proto__":{"polluted":1}}'],
    ['nesting beyond the limit', '['.repeat(33) + ']'.repeat(33)],
  ])('refuses %s', async (_, payload) => {
    expect(await post(payload)).toEqual({ refused: 'invalid_json' });
  });

  it.each(['gzip', 'br', 'GZIP', 'identity, gzip'])('refuses the content encoding %s', async (encoding) => {
    expect(await post('{}', { 'content-encoding': encoding })).toEqual({ refused: 'unsupported_media_type' });
  });

  it('takes the content encoding identity', async () => {
    expect(await post('{}', { 'content-encoding': 'identity' })).toEqual({ body: {} });
  });

  it('refuses a body of one byte too many', async () => {
    const bytes = (count: number): string => `"${'x'.repeat(count - 2)}"`;
    expect(await post(bytes(1024))).toHaveProperty('body');
    expect(await post(bytes(1025))).toEqual({ refused: 'FST_ERR_CTP_BODY_TOO_LARGE' });
  });
});
