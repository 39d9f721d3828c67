import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';

const script = fileURLToPath(new URL('../../examples/refunds/provider.mjs', import.meta.url));
const apiKey = 'provider-key-31415926';
const callbackSecret = `whsec_${Buffer.from('a secret that only two sides know').toString('base64')}`;

interface Received {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  bytes: number;
  /** The error that ended the answer, when it did not end as it should. */
  cut?: string;
}

interface Refund {
  refundId: string;
  status: string;
  amountMinor: number;
}

interface Stats {
  executions: number;
  executionsByKey: Record<string, number>;
  requests: number;
  requestsByKey: Record<string, number>;
  refunds: number;
  refundsByStatus: Record<string, number>;
  redirectsFollowed: number;
}

class Provider {
  private static readonly started = new Set<Provider>();

  private constructor(
    readonly process: ChildProcess,
    readonly url: string,
  ) {}

  static async start(db: string, ...more: string[]): Promise<Provider> {
    const child = spawn(process.execPath, [script, '--port', '0', '--db', db, '--api-key', apiKey, ...more], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {},
    });
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    const provider = new Provider(child, (JSON.parse(line) as { listening: string }).listening);
    Provider.started.add(provider);
    return provider;
  }

  /** For what a failed test left running. */
  static async endAll(): Promise<void> {
    await Promise.all([...Provider.started].map((provider) => provider.end('SIGKILL')));
  }

  async end(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<number | null> {
    Provider.started.delete(this);
    const exit = once(this.process, 'exit');
    this.process.kill(signal);
    return ((await exit) as [number | null])[0];
  }

  /** Rejects with the socket's error when no answer begins; resolves with what came when one does. */
  send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Received> {
    const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
    const fields = { authorization: `Bearer ${apiKey}`, ...headers };
    return new Promise((resolve, reject) => {
      const options = { method, headers: fields, agent: false, ...(signal === undefined ? {} : { signal }) };
      const outgoing = request(`${this.url}${path}`, options, (response) => {
        const chunks: Buffer[] = [];
        const ended = (cut?: string): void => {
          const received = Buffer.concat(chunks);
          const { statusCode: status = 0, headers } = response;
          const answer = { status, headers, text: received.toString(), bytes: received.length };
          resolve(cut === undefined ? answer : { ...answer, cut });
        };
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => ended());
        response.on('error', (error: NodeJS.ErrnoException) => ended(error.code));
      });
      outgoing.on('error', reject);
      outgoing.end(text);
    });
  }

  refund(key: string | null, body: unknown = refundOf(100), headers: Record<string, string> = {}): Promise<Received> {
    return this.send('POST', '/v1/refunds', body, { ...(key === null ? {} : { 'idempotency-key': key }), ...headers });
  }

  async json<T>(path: string): Promise<T> {
    return JSON.parse((await this.send('GET', path)).text) as T;
  }

  async lookup(query: string): Promise<Refund[]> {
    return (await this.json<{ data: Refund[] }>(`/v1/refunds?${query}`)).data;
  }

  stats(): Promise<Stats> {
    return this.json('/_control/stats');
  }

  async executionsOf(key: string): Promise<number> {
    return (await this.stats()).executionsByKey[key] ?? 0;
  }

  /** Waits until a request with this key has been read. */
  async seen(key: string): Promise<void> {
    await until(
      () => this.stats(),
      ({ requestsByKey }) => requestsByKey[key] === 1,
    );
  }

  async fault(rule: Record<string, unknown>): Promise<void> {
    const { status, text } = await this.send('POST', '/_control/faults', rule);
    if (status !== 201) throw new Error(text);
  }
}

function refundOf(amountMinor: number, orderId = 'ord_1010', more: Record<string, unknown> = {}): object {
  return { orderId, amountMinor, currency: 'EUR', ...more };
}

function parsed(received: Received): Refund {
  return JSON.parse(received.text) as Refund;
}

function errorCode(received: Received): string {
  return (JSON.parse(received.text) as { error: { code: string } }).error.code;
}

async function until<T>(read: () => Promise<T> | T, good: (value: T) => boolean, withinMs = 15_000): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const value = await read();
    if (good(value)) return value;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(value)}`);
    await pause(25);
  }
}

const folder = mkdtempSync(join(tmpdir(), 'refund-provider-'));
let files = 0;
function newFile(): string {
  files += 1;
  return join(folder, `provider-${files}.sqlite`);
}
afterAll(async () => {
  await Provider.endAll();
  rmSync(folder, { recursive: true, force: true });
});

describe('the refund provider', () => {
  let provider: Provider;
  beforeAll(async () => {
    provider = await Provider.start(newFile());
  });
  afterAll(() => provider.end());
  afterEach(async () => {
    await provider.send('DELETE', '/_control/faults');
  });

  describe('refunds', () => {
    it('makes one refund per key and replays its answer byte for byte', async () => {
      const first = await provider.refund('one-1', refundOf(100));
      const again = await provider.refund('one-1', '{ "currency":"EUR", "amountMinor":100, "orderId":"ord_1010" }');
      expect([first.status, first.headers['idempotent-replayed']]).toEqual([201, undefined]);
      expect(parsed(first)).toEqual({
        refundId: expect.stringMatching(/^re_[0-9a-f]+$/),
        orderId: 'ord_1010',
        amountMinor: 100,
        currency: 'EUR',
        status: 'succeeded',
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      });
      expect([again.status, again.headers['idempotent-replayed'], again.text]).toEqual([201, 'true', first.text]);
      expect(await provider.executionsOf('one-1')).toBe(1);
      expect((await provider.stats()).requestsByKey['one-1']).toBe(2);
    });

    it('refuses a used key with another body and does nothing', async () => {
      await provider.refund('conflict-1', refundOf(100));
      const other = await provider.refund('conflict-1', refundOf(101));
      expect([other.status, errorCode(other)]).toEqual([409, 'idempotency_key_reuse']);
      expect(await provider.executionsOf('conflict-1')).toBe(1);
    });

    it('makes exactly one refund of a hundred simultaneous requests with one key', async () => {
      const answers = await Promise.all(Array.from({ length: 100 }, () => provider.refund('crowd')));
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      expect(answers.filter((answer) => answer.headers['idempotent-replayed'] === undefined)).toHaveLength(1);
      expect(await provider.executionsOf('crowd')).toBe(1);
    });

    it('makes a refund every time when there is no key', async () => {
      const before = await provider.stats();
      const answers = [await provider.refund(null), await provider.refund(null)];
      expect(parsed(answers[0] as Received).refundId).not.toBe(parsed(answers[1] as Received).refundId);
      expect((await provider.stats()).executions).toBe(before.executions + 2);
    });

    it('never refunds more than the order, and leaves the key of a refusal free', async () => {
      await provider.send('POST', '/v1/orders', { orderId: 'ord_small', amountMinor: 1_000 });
      expect((await provider.refund('small-1', refundOf(700, 'ord_small'))).status).toBe(201);
      const over = await provider.refund('small-2', refundOf(301, 'ord_small'));
      expect([over.status, errorCode(over)]).toEqual([422, 'amount_exceeds_remaining']);
      expect((await provider.refund('small-2', refundOf(300, 'ord_small'))).status).toBe(201);
      expect(await provider.json('/v1/orders/ord_small')).toMatchObject({ refundedMinor: 1_000, remainingMinor: 0 });
    });

    it.each([
      ['an amount that is not a whole number', refundOf(1.5), 422, 'invalid_field'],
      ['an amount of zero', refundOf(0), 422, 'invalid_field'],
      ['an amount as text', { orderId: 'ord_1001', amountMinor: '100', currency: 'EUR' }, 422, 'invalid_field'],
      ['no currency', { orderId: 'ord_1001', amountMinor: 100 }, 422, 'invalid_field'],
      ['another currency', { orderId: 'ord_1001', amountMinor: 100, currency: 'USD' }, 422, 'currency_mismatch'],
      ['an unknown order', refundOf(100, 'ord_9999'), 404, 'order_not_found'],
      ['a body that is not JSON', '{"orderId":', 400, 'invalid_json'],
      ['a body above one mebibyte', refundOf(1, 'ord_1001', { note: 'x'.repeat(1_048_576) }), 413, 'body_too_large'],
    ])('refuses %s without an effect', async (_, body, status, code) => {
      const before = await provider.stats();
      const answer = await provider.refund('refused', body);
      expect([answer.status, errorCode(answer)]).toEqual([status, code]);
      expect((await provider.stats()).executions).toBe(before.executions);
    });

    it('finds refunds by key, by order and by id', async () => {
      await provider.send('POST', '/v1/orders', { orderId: 'ord_lookup', amountMinor: 1_000 });
      const made = parsed(await provider.refund('lookup-1', refundOf(10, 'ord_lookup')));
      const found = { ...made, reason: null, idempotencyKey: 'lookup-1', completedAt: expect.any(String) };
      expect(await provider.lookup('idempotencyKey=lookup-1')).toEqual([found]);
      expect(await provider.lookup('orderId=ord_lookup')).toEqual([found]);
      expect(await provider.json(`/v1/refunds/${made.refundId}`)).toEqual(found);
      expect(await provider.lookup('idempotencyKey=lookup-2')).toEqual([]);
      expect((await provider.send('GET', '/v1/refunds/re_none')).status).toBe(404);
    });
  });

  describe('credentials', () => {
    it.each([
      ['none', ''],
      ['a wrong one', 'Bearer wrong-key-2718'],
    ])('answers 401 to %s and does not repeat it', async (_, authorization) => {
      const attempts = [
        await provider.refund('unauthorized', refundOf(100), { authorization }),
        await provider.send('GET', '/v1/refunds?orderId=ord_1001', undefined, { authorization }),
        await provider.send('GET', '/v1/orders', undefined, { authorization }),
      ];
      expect(attempts.map((answer) => answer.status)).toEqual([401, 401, 401]);
      expect(attempts.map((answer) => answer.text).join()).not.toContain('2718');
      expect(await provider.executionsOf('unauthorized')).toBe(0);
    });

    it('repeats the credential only when reflectKey is on, in refusals too', async () => {
      await provider.fault({ reflectKey: true, times: 1 });
      expect((await provider.refund('reflect-1', refundOf(100), { authorization: 'Bearer wrong-1' })).text).toContain(
        'wrong-1',
      );
      await provider.fault({ reflectKey: true, rejectWith: 401, times: 1 });
      const rejected = await provider.refund('reflect-2');
      expect([rejected.status, rejected.text.includes(apiKey)]).toEqual([401, true]);
      expect((await provider.refund('reflect-3')).text).not.toContain(apiKey);
    });

    it('lists what it received exactly as it came, but only a digest of the credential', async () => {
      const body = '{"orderId":"ord_1010",  "amountMinor":100,"currency":"EUR"}';
      await provider.refund('journal-1', body, { 'x-extra': 'seen' });
      const { text } = await provider.send('GET', '/_control/requests?limit=1');
      const [entry] = (JSON.parse(text) as { data: { headers: object; body: string; answer: string }[] }).data;
      const digest = createHash('sha256').update(`Bearer ${apiKey}`).digest('hex').slice(0, 16);
      expect(entry).toMatchObject({ body, answer: '201 whole', target: 'POST /v1/refunds' });
      expect(entry?.headers).toMatchObject({
        'idempotency-key': 'journal-1',
        'x-extra': 'seen',
        authorization: `sha256:${digest}`,
      });
      expect(text).not.toContain(apiKey);
    });
  });

  describe('faults of refund requests', () => {
    it.each([
      ['resetBeforeEffect', 0],
      ['resetAfterEffect', 1],
    ])('%s resets the connection without a byte, with %d effect', async (name, effects) => {
      await provider.fault({ [name]: true, times: 1 });
      await expect(provider.refund(name)).rejects.toThrow('read ECONNRESET');
      expect(await provider.executionsOf(name)).toBe(effects);
      expect((await provider.refund(name)).headers['idempotent-replayed']).toBe(effects === 1 ? 'true' : undefined);
      expect(await provider.executionsOf(name)).toBe(1);
    });

    it.each([
      [{ statusBeforeEffect: 503 }, 503, 0],
      [{ statusAfterEffect: 500 }, 500, 1],
      [{ rejectWith: 422 }, 422, 0],
      [{ redirect: true }, 302, 0],
      [{ redirect: 'afterEffect', redirectStatus: 307 }, 307, 1],
    ])('%j answers %d with %d effect', async (switches, status, effects) => {
      const key = `status-${JSON.stringify(switches)}`;
      await provider.fault({ ...switches, times: 1 });
      const answer = await provider.refund(key);
      expect(answer.status).toBe(status);
      expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined);
      expect(await provider.executionsOf(key)).toBe(effects);
    });

    it('counts a redirect that somebody followed', async () => {
      const before = (await provider.stats()).redirectsFollowed;
      await provider.fault({ redirect: true, redirectStatus: 307, times: 1 });
      const headers = { authorization: `Bearer ${apiKey}`, 'idempotency-key': 'followed' };
      await fetch(`${provider.url}/v1/refunds`, { method: 'POST', headers, body: JSON.stringify(refundOf(100)) });
      expect((await provider.stats()).redirectsFollowed).toBe(before + 1);
      expect(await provider.executionsOf('followed')).toBe(1);
    });

    it.each([
      ['beforeEffect', 0],
      ['afterEffect', 1],
    ])('hangForever %s never answers, with %d effect', async (moment, effects) => {
      await provider.fault({ hangForever: moment, times: 1 });
      const giveUp = new AbortController();
      const headers = { 'idempotency-key': `hang-${moment}` };
      const hung = provider.send('POST', '/v1/refunds', refundOf(100), headers, giveUp.signal);
      await provider.seen(`hang-${moment}`);
      setTimeout(() => giveUp.abort(), 400);
      await expect(hung).rejects.toThrow(/abort/i);
      expect(await provider.executionsOf(`hang-${moment}`)).toBe(effects);
    });

    it('waits before the effect or after it, as told', async () => {
      await provider.fault({ delayBeforeMs: 2_000, keyPrefix: 'late-before' });
      await provider.fault({ delayAfterMs: 700, keyPrefix: 'late-after' });
      const started = Date.now();
      const waiting = [provider.refund('late-before'), provider.refund('late-after')];
      await until(
        () => provider.executionsOf('late-after'),
        (n) => n === 1,
      );
      expect(await provider.executionsOf('late-before')).toBe(0);
      expect((await Promise.all(waiting)).map((answer) => answer.status)).toEqual([201, 201]);
      expect(Date.now() - started).toBeGreaterThanOrEqual(1_990);
    });

    it('makes the refund of a caller who has hung up meanwhile', async () => {
      await provider.fault({ delayBeforeMs: 500, delayAfterMs: 100, times: 1 });
      const hangUp = new AbortController();
      const gone = provider.send('POST', '/v1/refunds', refundOf(100), { 'idempotency-key': 'gone' }, hangUp.signal);
      await provider.seen('gone');
      hangUp.abort();
      await expect(gone).rejects.toThrow(/abort/i);
      await until(
        () => provider.executionsOf('gone'),
        (n) => n === 1,
      );
    });

    it('sends half a body under the length of the whole one', async () => {
      await provider.fault({ halfBody: true, times: 1 });
      const answer = await provider.refund('half');
      const whole = Number(answer.headers['content-length']);
      expect(answer).toMatchObject({ status: 201, cut: 'ECONNRESET', bytes: Math.floor(whole / 2) });
      expect(await provider.executionsOf('half')).toBe(1);
    });

    it('sends an answer that is not JSON, and one that is not a refund', async () => {
      await provider.fault({ invalidJson: true, times: 1 });
      await provider.fault({ wrongShape: true, times: 1 });
      const answers = [await provider.refund('broken-1'), await provider.refund('broken-2')];
      expect(answers.map(({ status }) => status)).toEqual([201, 201]);
      expect(() => parsed(answers[0] as Received)).toThrow(SyntaxError);
      expect(parsed(answers[1] as Received)).toEqual({ ok: true });
      expect((await provider.stats()).executionsByKey).toMatchObject({ 'broken-1': 1, 'broken-2': 1 });
    });

    it('pads an answer to the size asked for, and lets one trickle', async () => {
      await provider.fault({ bodyBytes: 3_000_000, times: 1 });
      await provider.fault({ slowBodyMs: 500, times: 1 });
      const padded = await provider.refund('padded');
      expect([padded.bytes, parsed(padded).amountMinor]).toEqual([3_000_000, 100]);
      const started = Date.now();
      expect(parsed(await provider.refund('slow')).amountMinor).toBe(100);
      expect(Date.now() - started).toBeGreaterThan(400);
    });

    it('applies a rule to the next N requests that match its key prefix or order, and to no other', async () => {
      await provider.fault({ statusBeforeEffect: 503, keyPrefix: 'only-', orderId: 'ord_1010', times: 2 });
      const keys = ['other', 'only-1', 'only-2', 'only-3'];
      const statuses = [(await provider.refund('only-0', refundOf(1, 'ord_1009'))).status];
      for (const key of keys) statuses.push((await provider.refund(key)).status);
      expect(statuses).toEqual([201, 201, 503, 503, 201]);
    });

    it.each([
      [{ delayedMs: 5 }, 'unknown switch'],
      [{ resetAfterEffect: 'yes' }, 'resetAfterEffect'],
      [{ statusAfterEffect: 200 }, 'statusAfterEffect'],
      [{ times: 1 }, 'at least one switch'],
      [{ halfBody: true, lyingProbe: true }, 'all of one kind'],
    ])('refuses the rule %j, which could only mislead', async (rule, why) => {
      const answer = await provider.send('POST', '/_control/faults', rule);
      expect([answer.status, errorCode(answer)]).toEqual([400, 'invalid_fault']);
      expect(answer.text).toContain(why);
    });

    it('resets a connection before anything is read from it', async () => {
      const before = await provider.stats();
      await provider.fault({ resetConnection: true, times: 1 });
      await expect(provider.refund('connection')).rejects.toThrow(/ECONNRESET|EPIPE|socket hang up/);
      expect((await provider.stats()).requests).toBe(before.requests);
    });
  });

  describe('faults of lookups', () => {
    it('does not show refunds younger than the visibility delay, and shows them later', async () => {
      await provider.fault({ visibilityDelayMs: 900, keyPrefix: 'soon' });
      await provider.fault({ visibilityDelayMs: 3_600_000, keyPrefix: 'hidden' });
      const { refundId } = parsed(await provider.refund('hidden'));
      expect(await provider.lookup('idempotencyKey=hidden')).toEqual([]);
      expect((await provider.send('GET', `/v1/refunds/${refundId}`)).status).toBe(404);
      await provider.refund('soon');
      const made = Date.now();
      await until(
        () => provider.lookup('idempotencyKey=soon'),
        (found) => found.length === 1,
      );
      expect(Date.now() - made).toBeGreaterThan(700);
      await provider.send('DELETE', '/_control/faults');
      expect(await provider.lookup('idempotencyKey=hidden')).toHaveLength(1);
    });

    it('lies, fails and dawdles when told so, though the refund exists', async () => {
      const { refundId } = parsed(await provider.refund('lied-about'));
      await provider.fault({ lyingProbe: true, times: 2 });
      await provider.fault({ probeStatus: 500, times: 1 });
      await provider.fault({ probeDelayMs: 400, times: 1 });
      expect(await provider.lookup('idempotencyKey=lied-about')).toEqual([]);
      expect((await provider.send('GET', `/v1/refunds/${refundId}`)).status).toBe(404);
      expect((await provider.send('GET', '/v1/refunds?idempotencyKey=lied-about')).status).toBe(500);
      const started = Date.now();
      expect(await provider.lookup('idempotencyKey=lied-about')).toHaveLength(1);
      expect(Date.now() - started).toBeGreaterThanOrEqual(390);
      expect(await provider.executionsOf('lied-about')).toBe(1);
    });
  });
});

interface Callback {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

function isSigned({ headers, body }: Callback): boolean {
  const key = Buffer.from(callbackSecret.slice('whsec_'.length), 'base64');
  const content = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}

function typeOf(callback: Callback): string {
  return (JSON.parse(callback.body) as { type: string }).type;
}

describe('refunds that are accepted first and completed later', () => {
  const neverAnswered = 0;
  const received: Callback[] = [];
  let answers: number[] = [];
  const receiver = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { url: path = '', headers } = incoming;
      received.push({ path, headers, body: Buffer.concat(chunks).toString() });
      const status = answers.shift() ?? 204;
      if (status !== neverAnswered) response.writeHead(status).end();
    });
  });
  let receiverUrl: string;
  let target: string[];
  let provider: Provider;
  const arrived = (n: number): Promise<Callback[]> =>
    until(
      () => received,
      (all) => all.length >= n,
    );

  beforeAll(async () => {
    receiver.listen(0, '127.0.0.1');
    await once(receiver, 'listening');
    receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    target = ['--callback-url', `${receiverUrl}/hook/{idempotencyKey}`, '--callback-secret', callbackSecret];
    provider = await Provider.start(newFile(), ...target);
  });
  beforeEach(() => {
    received.length = 0;
    answers = [];
  });
  afterEach(async () => {
    await provider.send('DELETE', '/_control/faults');
  });
  afterAll(async () => {
    await provider.end();
    receiver.close();
    receiver.closeAllConnections();
  });

  it('answers 202, moves the money later and says so in a signed callback', async () => {
    await provider.fault({ accept202: true, completeAfterMs: 400, times: 1 });
    const answer = await provider.refund('async-1');
    const { refundId } = parsed(answer);
    expect([answer.status, parsed(answer)]).toEqual([202, { refundId, status: 'pending' }]);
    expect(await provider.lookup('idempotencyKey=async-1')).toMatchObject([{ status: 'pending', completedAt: null }]);
    expect(await provider.executionsOf('async-1')).toBe(0);
    const [callback] = await arrived(1);
    expect(callback).toMatchObject({ path: '/hook/async-1', headers: { 'content-type': 'application/json' } });
    expect(isSigned(callback as Callback)).toBe(true);
    expect(Math.abs(Number(callback?.headers['webhook-timestamp']) - Date.now() / 1_000)).toBeLessThan(60);
    expect(JSON.parse(callback?.body ?? '')).toEqual({
      type: 'refund.succeeded',
      timestamp: expect.any(String),
      data: await provider.json(`/v1/refunds/${refundId}`),
    });
    expect(await provider.executionsOf('async-1')).toBe(1);
    expect((await provider.refund('async-1')).text).toBe(answer.text);
    expect(await provider.executionsOf('async-1')).toBe(1);
  });

  it('takes the wish for 202 and the callback address from the request', async () => {
    const body = refundOf(100, 'ord_1010', { callbackUrl: `${receiverUrl}/mine` });
    expect((await provider.refund('async-2', body, { prefer: 'respond-async' })).status).toBe(202);
    expect((await arrived(1)).map(({ path }) => path)).toEqual(['/mine']);
  });

  it('gives the money back when a refund fails, and counts no execution', async () => {
    await provider.send('POST', '/v1/orders', { orderId: 'ord_back', amountMinor: 500 });
    await provider.fault({ accept202: true, completeAs: 'failed', times: 1 });
    await provider.refund('async-3', refundOf(500, 'ord_back'));
    expect(await provider.json('/v1/orders/ord_back')).toMatchObject({ remainingMinor: 0 });
    expect((await arrived(1)).map(typeOf)).toEqual(['refund.failed']);
    expect(await provider.json('/v1/orders/ord_back')).toMatchObject({ remainingMinor: 500 });
    expect(await provider.executionsOf('async-3')).toBe(0);
  });

  it('leaves a refund pending for ever when told so', async () => {
    await provider.fault({ accept202: true, completeAs: 'never', completeAfterMs: 1, times: 1 });
    await provider.refund('async-4');
    await pause(300);
    expect(await provider.lookup('idempotencyKey=async-4')).toMatchObject([{ status: 'pending' }]);
    expect(received).toEqual([]);
  });

  it('tries again with the same webhook-id until it is thanked', async () => {
    answers = [500, 503];
    await provider.fault({ accept202: true, completeAfterMs: 1, times: 1 });
    await provider.refund('async-5');
    const tries = await arrived(3);
    expect(new Set(tries.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(tries.every(isSigned)).toBe(true);
    const state = await until(
      () => provider.json<{ data: { state: string; tries: number }[] }>('/_control/callbacks?limit=1'),
      ({ data }) => data[0]?.state === 'delivered',
    );
    expect(state.data).toMatchObject([{ tries: 3, lastResult: '204' }]);
    await pause(500);
    expect(received).toHaveLength(3);
  });

  it('gives up after five tries, and at once when the receiver is gone for good', async () => {
    answers = [500, 500, 500, 500, 500, 410];
    await provider.fault({ accept202: true, completeAfterMs: 1, times: 2 });
    await provider.refund('async-6');
    await arrived(5);
    await provider.refund('async-7');
    const { data } = await until(
      () => provider.json<{ data: { state: string; tries: number }[] }>('/_control/callbacks?limit=2'),
      (page) => page.data.every(({ state }) => state === 'given_up'),
    );
    expect(data.map(({ tries }) => tries)).toEqual([1, 5]);
  });

  it('sends duplicates, badly signed, late and lost callbacks when told so', async () => {
    await provider.fault({ accept202: true, completeAfterMs: 1, callbackCopies: 3, keyPrefix: 'copies' });
    await provider.fault({ accept202: true, completeAfterMs: 1, callbackBadSignature: true, keyPrefix: 'forged' });
    await provider.fault({ accept202: true, completeAfterMs: 1, callbackDelayMs: 900, keyPrefix: 'late' });
    await provider.fault({ accept202: true, completeAfterMs: 1, callbackLost: true, keyPrefix: 'lost' });
    const started = Date.now();
    for (const key of ['late', 'lost', 'copies', 'forged']) await provider.refund(key);
    const all = await arrived(5);
    expect(Date.now() - started).toBeGreaterThanOrEqual(900);
    const at = (key: string): Callback[] => all.filter(({ path }) => path === `/hook/${key}`);
    expect(at('copies')).toHaveLength(3);
    expect(new Set(at('copies').map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(at('forged').map(isSigned)).toEqual([false]);
    expect(all.at(-1)?.path).toBe('/hook/late');
    expect(at('lost')).toEqual([]);
    expect((await provider.stats()).executionsByKey).toMatchObject({ copies: 1, forged: 1, late: 1, lost: 1 });
  });

  it('reports progress before the end or, out of order, after it', async () => {
    await provider.fault({ accept202: true, completeAfterMs: 500, callbackProcessing: 'before', times: 1 });
    await provider.refund('ordered');
    expect((await arrived(2)).map(typeOf)).toEqual(['refund.processing', 'refund.succeeded']);
    await provider.fault({ accept202: true, completeAfterMs: 1, callbackProcessing: 'after', times: 1 });
    await provider.refund('reversed');
    expect((await arrived(4)).slice(2).map(typeOf)).toEqual(['refund.succeeded', 'refund.processing']);
  });

  it('can call back before its own answer has arrived', async () => {
    await provider.fault({ accept202: true, completeAfterMs: 0, delayAfterMs: 1_500, times: 1 });
    const answer = provider.refund('early').then(({ status }) => status);
    const callback = arrived(1).then((all) => all.map(typeOf));
    expect(await Promise.race([answer, callback])).toEqual(['refund.succeeded']);
    expect(await answer).toBe(202);
  });

  it('sends a callback again after a restart when it was stopped in the middle of it', async () => {
    const file = newFile();
    const first = await Provider.start(file, ...target);
    answers = [neverAnswered];
    await first.fault({ accept202: true, completeAfterMs: 1, times: 1 });
    await first.refund('interrupted');
    await arrived(1);
    expect(await first.end()).toBe(0);
    const second = await Provider.start(file, ...target);
    const [before, after] = await arrived(2);
    expect(after?.headers['webhook-id']).toBe(before?.headers['webhook-id']);
    expect(await second.executionsOf('interrupted')).toBe(1);
    await second.end();
  });

  it('keeps callbacks while nobody is configured to hear them', async () => {
    await provider.send('DELETE', '/_control/callback');
    await provider.fault({ accept202: true, completeAfterMs: 1, times: 1 });
    await provider.refund('kept');
    await until(
      () => provider.executionsOf('kept'),
      (n) => n === 1,
    );
    expect(received).toEqual([]);
    await provider.send('PUT', '/_control/callback', { url: `${receiverUrl}/hook/{idempotencyKey}` });
    expect((await arrived(1)).map(({ path }) => path)).toEqual(['/hook/kept']);
    expect(received.every(isSigned)).toBe(true);
  });
});

describe('time, restarts and stopping', () => {
  it('takes an expired key for a new one and refunds again, as real providers do', async () => {
    const provider = await Provider.start(newFile(), '--key-retention-ms', '2000');
    const first = parsed(await provider.refund('expiring'));
    expect(parsed(await provider.refund('expiring')).refundId).toBe(first.refundId);
    await pause(2_100);
    const second = await provider.refund('expiring');
    expect(second.headers['idempotent-replayed']).toBeUndefined();
    expect(parsed(second).refundId).not.toBe(first.refundId);
    expect(await provider.executionsOf('expiring')).toBe(2);
    expect(await provider.lookup('idempotencyKey=expiring')).toHaveLength(2);
    await provider.end();
  });

  it('keeps refunds, keys, counts and what is pending over a kill, but no fault', async () => {
    const file = newFile();
    const first = await Provider.start(file);
    const made = await first.refund('kept-1');
    await first.fault({ accept202: true, completeAfterMs: 1_500, times: 1 });
    await first.refund('kept-2');
    await first.fault({ statusBeforeEffect: 503 });
    await first.end('SIGKILL');
    const second = await Provider.start(file);
    const again = await second.refund('kept-1');
    expect([again.text, again.headers['idempotent-replayed']]).toEqual([made.text, 'true']);
    expect(await second.lookup('idempotencyKey=kept-1')).toHaveLength(1);
    await until(
      () => second.executionsOf('kept-2'),
      (n) => n === 1,
    );
    expect(await second.stats()).toMatchObject({ executions: 2, refunds: 2, refundsByStatus: { succeeded: 2 } });
    await second.end();
  });

  it('stops at SIGTERM although requests hang, and a delayed refund is then not made', async () => {
    const file = newFile();
    const first = await Provider.start(file);
    await first.fault({ hangForever: 'afterEffect', keyPrefix: 'hangs' });
    await first.fault({ delayBeforeMs: 60_000, keyPrefix: 'waits' });
    const dropped = [first.refund('hangs'), first.refund('waits')].map((sent) =>
      expect(sent).rejects.toThrow(/hang up|ECONNRESET/),
    );
    await until(
      () => first.stats(),
      ({ requests }) => requests === 2,
    );
    const started = Date.now();
    expect(await first.end()).toBe(0);
    expect(Date.now() - started).toBeLessThan(10_000);
    await Promise.all(dropped);
    const second = await Provider.start(file);
    expect((await second.stats()).executionsByKey).toEqual({ hangs: 1 });
    await second.end();
  });

  it.each([
    ['--db', []],
    ['--port', ['--db', ':memory:', '--port', 'eighty']],
    ['--callback-secret', ['--db', ':memory:', '--callback-url', 'http://127.0.0.1:1/']],
    ['--unknown', ['--db', ':memory:', '--unknown']],
  ])('does not start without a sensible %s and says how to', async (name, args) => {
    const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'ignore', 'pipe'], env: {} });
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, 'close')) as [number];
    expect([code, said]).toEqual([2, expect.stringContaining(name)]);
    expect(said).toContain('node provider.mjs --db FILE');
  });
});
