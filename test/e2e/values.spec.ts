import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ask, opaqueManifest, permit, readOnlyManifest } from '../support/demo-capabilities.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { approvalIdOf, expectProblem, type Answer, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const MIB = 1_048_576;

let stack: Stack;
let harness: Client;
let lena: Client;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.pay', {
        ref: { type: 'integer' },
        refs: { type: 'array', items: { type: 'integer' } },
        v: { type: 'number' },
        w: { type: 'number' },
        x: { type: 'number' },
        p: { type: 'string' },
      }),
      ...readOnlyManifest(
        'demo.read',
        { text: { type: 'string', maxLength: 2_000_000 }, list: { type: 'array', items: { type: 'integer' } } },
        { timeout: '10s' },
      ),
    },
    policies: { ...ask('demo.pay', { when: 'context.input has ref || context.input has p' }), ...permit('demo.read') },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
});
afterAll(() => stack.destroy());

const raw = (text: string, key = `raw-${text.length}-${text.slice(0, 60).replace(/[^!-~]/g, '')}`): Promise<Answer> =>
  harness.propose('', {}, { key: key.slice(0, 200), wait: 5, raw: `{"capability":"demo.pay","arguments":${text}}` });

const read = (args: object = {}) => harness.propose('demo.read', args, { key: null });

describe('numbers', () => {
  it.each([
    ['{"ref":9007199254740993}', '/arguments/ref'],
    ['{"refs":[1,4611686018427387905]}', '/arguments/refs/1'],
    ['{"ref":-9007199254740993}', '/arguments/ref'],
    ['{"ref":9007199254740993.0}', '/arguments/ref'],
    ['{"ref":1e309}', '/arguments/ref'],
  ])('that would be rounded are refused, never changed: %s', async (text, pointer) => {
    const problem = expectProblem(await raw(text), 'invalid_json');
    expect(problem.pointer).toBe(pointer);
    expect(JSON.stringify(problem)).not.toContain('9007199254740993');
    expect(stack.tool.executions('/demo.pay').filter(({ body }) => body.includes('90071992547409'))).toEqual([]);
  });

  it('up to 2^53 - 1 reach approver and tool digit by digit', async () => {
    const proposed = await harness.propose(
      'demo.pay',
      { ref: 9_007_199_254_740_991, refs: [-9_007_199_254_740_991] },
      { wait: 0 },
    );
    const shown = await lena.approval(approvalIdOf(proposed));
    expect(shown.text).toContain('"ref":9007199254740991');
    await lena.decide(approvalIdOf(proposed), 'allow');
    expect((await harness.call(proposed.body.toolCallId, 10)).body.status).toBe('completed');
    expect(stack.tool.executions('/demo.pay').at(-1)?.body).toBe('{"ref":9007199254740991,"refs":[-9007199254740991]}');
  });

  it('spelled differently are one value: the same digest and the same call', async () => {
    const first = await raw('{"v":-0,"w":1.0,"x":1e2}', 'spellings');
    const again = await raw('{"v":0,"w":1,"x":100}', 'spellings');
    const digests = [first, again].map(({ body }) => (body as { argsDigest: string }).argsDigest);
    expect(digests[0]).toMatch(/^sha256:/);
    expect(digests[1]).toBe(digests[0]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(stack.tool.executions('/demo.pay').filter(({ body }) => body === '{"v":0,"w":1,"x":100}')).toHaveLength(1);
  });
});

describe('text', () => {
  it.each([
    ['NUL', 'x\u0000y'],
    ['line separators of Unicode', 'a\u2028b\u2029c\u0085d'],
    ['emoji and combining marks', 'e\u0301 \u{1F389} \u{1F468}\u200D\u{1F469}'],
    ['quotes and backslashes', '"\\" \\u{41} </script>'],
    ['names of prototypes', '__proto__ constructor toString'],
  ])('with %s is sent, kept and given back as it was', async (_, text) => {
    stack.tool.behave('/demo.read', ({ body }) => ({ text: body, headers: { 'content-type': 'application/json' } }));
    const answer = await read({ text });
    expect(answer.body).toMatchObject({ status: 'completed', arguments: { text }, result: { text } });
    expect((await harness.call(answer.body.toolCallId)).body.result).toEqual({ text });
    expect(JSON.parse(stack.tool.executions('/demo.read').at(-1)?.body ?? '')).toEqual({ text });
  });

  it('survives a restart, and its key is still recognised', async () => {
    const text = 'a\u2028b\u0085c\u0000d';
    const first = await harness.propose('demo.pay', { p: text }, { key: 'kept-over-restart', wait: 0 });
    await stack.restart('SIGKILL');
    const again = await harness.propose('demo.pay', { p: text }, { key: 'kept-over-restart', wait: 0 });
    expect(again.body.toolCallId).toBe(first.body.toolCallId);
    expect(again.body.arguments).toEqual({ p: text });
  });
});

describe('requests that are not one strict JSON value', () => {
  it.each([
    ['nothing', ''],
    ['half', '{"capability":"demo.pay"'],
    ['two values', '{} {}'],
    ['a repeated key', '{"capability":"demo.pay","capability":"demo.read","arguments":{}}'],
    ['a repeated argument', '{"capability":"demo.pay","arguments":{"ref":1,"ref":2}}'],
    ['a repeated argument by another spelling', '{"capability":"demo.pay","arguments":{"ref":1,"r\\u0065f":2}}'],
    ['a lone surrogate', '{"capability":"demo.pay","arguments":{"p":"\\ud800"}}'],
    ['__proto__', '{"capability":"demo.pay","arguments":{"__proto__":{"ref":1}}}'],
    ['constructor below', '{"capability":"demo.pay","arguments":{"p":{"constructor":{"prototype":1}}}}'],
    ['NaN', '{"capability":"demo.pay","arguments":{"ref":NaN}}'],
    ['a comment', '{"capability":"demo.pay",/* x */"arguments":{}}'],
    ['a trailing comma', '{"capability":"demo.pay","arguments":{},}'],
    ['a byte order mark', '\ufeff{"capability":"demo.pay","arguments":{}}'],
  ])('%s: refused as invalid_json', async (_, text) => {
    expectProblem(
      await harness.post('/v1/tool-calls', undefined, { raw: text, headers: { 'idempotency-key': 'strict' } }),
      'invalid_json',
    );
  });

  it('invalid UTF-8: refused as invalid_json', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"capability":"demo.pay","arguments":{"p":"'),
      Buffer.from([0xff, 0xc0]),
      Buffer.from('"}}'),
    ]);
    expectProblem(await harness.post('/v1/tool-calls', undefined, { raw: bytes }), 'invalid_json');
  });
});

describe('results', () => {
  it.each([[0], [false], [''], [null], [[]], [{}], [-0.5], ['\u0000'], [[null, 0, '']]])(
    'of %j end the call with exactly that value',
    async (value) => {
      stack.tool.behave('/demo.read', () => jsonAnswer(value));
      const answer = await read();
      expect(answer.body).toMatchObject({ status: 'completed', error: null, resultTruncated: false });
      expect(answer.body.result).toEqual(value);
      expect((await harness.call(answer.body.toolCallId)).body.result).toEqual(value);
    },
  );

  it('that are text or bytes are kept as what they are', async () => {
    stack.tool.behave('/demo.read', () => ({ text: 'plain words', headers: { 'content-type': 'text/plain' } }));
    expect((await read()).body.result).toBe('plain words');
    stack.tool.behave('/demo.read', () => ({ text: '', status: 204 }));
    expect((await read()).body).toMatchObject({ status: 'completed', result: null });
  });

  it('of 12 MB are cut and marked, and everything after works, over a restart too', async () => {
    stack.tool.behave('/demo.read', () => ({ text: 'x'.repeat(12 * MIB), headers: { 'content-type': 'text/plain' } }));
    const large = await read();
    expect(large.body).toMatchObject({ status: 'completed', resultTruncated: true });
    expect(large.text.length).toBeLessThan(MIB);
    stack.tool.behave('/demo.read', () => jsonAnswer({ ok: true }));
    expect((await read()).body.status).toBe('completed');
    await stack.restart('SIGTERM');
    expect((await harness.call(large.body.toolCallId)).body).toEqual(large.body);
    expect((await read()).body.status).toBe('completed');
  });

  it('cut in the middle of a character stay well formed', async () => {
    for (let shift = 0; shift < 4; shift += 1) {
      const text = `${'a'.repeat(262_144 - 4 + shift)}\u{1F389}\u{1F389}b`;
      stack.tool.behave('/demo.read', () => ({ text, headers: { 'content-type': 'text/plain; charset=utf-8' } }));
      const { body } = await read();
      expect(body).toMatchObject({ status: 'completed', resultTruncated: true });
      const result = body.result as string;
      expect(text.startsWith(result)).toBe(true);
      expect(result).not.toMatch(/[\ud800-\udbff]$|\ufffd/);
    }
    stack.tool.behave('/demo.read', () => jsonAnswer({ ok: true }));
  });
});

describe('requests that are too large', () => {
  it.each([
    ['3 MB of arguments', () => JSON.stringify({ text: 'x'.repeat(3 * MIB) }), 'payload_too_large'],
    ['arguments above their own limit', () => JSON.stringify({ text: 'x'.repeat(300_000) }), 'payload_too_large'],
    ['lists nested 10,000 deep', () => `{"list":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 'invalid_json'],
    [
      '100,000 keys',
      () => `{${Array.from({ length: 100_000 }, (_, n) => `"k${n}":1`).join(',')}}`,
      'payload_too_large or invalid_json',
    ],
  ])('%s: refused before anything is recorded, and the next call works', async (_, text, codes) => {
    const key = `too-large-${text().length}`;
    const answer = await harness.propose(
      'demo.read',
      {},
      {
        key,
        raw: `{"capability":"demo.read","arguments":${text()}}`,
      },
    );
    const code = (answer.body as unknown as { code: 'payload_too_large' | 'invalid_json' }).code;
    expect(codes.split(' or ')).toContain(code);
    expectProblem(answer, code);
    const next = await harness.propose('demo.read', { text: 'small' }, { key });
    expect(next.body.status).toBe('completed');
    expect(next.headers.get('idempotent-replayed')).toBeNull();
  });

  it('by far are cut off while they are being sent, and leave neither a trace nor memory behind', async () => {
    const bytes = residentBytes(stack.proxy.pid);
    const large = Buffer.alloc(20 * MIB, 120);
    for (let times = 0; times < 5; times += 1) {
      // The server stops reading: a client that sends on may find the connection closed before it reads the answer.
      const answer = await harness
        .post('/v1/tool-calls', undefined, { raw: large, headers: { 'idempotency-key': 'far-too-large' } })
        .catch(() => null);
      if (answer !== null) expectProblem(answer, 'payload_too_large');
    }
    expect(residentBytes(stack.proxy.pid) - bytes).toBeLessThan(64 * MIB);
    const next = await harness.propose('demo.read', { text: 'small' }, { key: 'far-too-large' });
    expect(next.body.status).toBe('completed');
    expect(next.headers.get('idempotent-replayed')).toBeNull();
  });
});

/** Memory of a process, as Linux counts it. */
function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(match?.[1]) * 1024;
}
