import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventPage, type EventPageRepresentation, type EventRepresentation } from '../../src/client/contract/events.js';
import { ask, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { eventCount } from '../support/event-records.js';
import { LazyStream, OpenStream, type StreamedEvent } from '../support/event-stream.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const CARD = 'canary-card-token-8Wq1Zr5tKd';

let stack: Stack;
let harness: Client;
let auditor: Client;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.pay', { amount: { type: 'integer' } }, { timeout: '20s' }),
      ...opaqueManifest('demo.big', { text: { type: 'string' } }),
      ...opaqueManifest('demo.card', { cardToken: { type: 'string' } }, { redact: ['/cardToken'] }),
    },
    policies: { ...permit('demo.pay'), ...permit('demo.big'), ...ask('demo.card') },
    env: { COUNTERSIGN_INSTALLATION__OPERATOR_TENANT: 'head-office', COUNTERSIGN_SHUTDOWN_GRACE_MS: '3000' },
  });
  harness = await stack.as(CAST.harness);
  auditor = await stack.as(CAST.auditor);
});
afterAll(() => stack.destroy());

async function pageOf(client: Client, query = ''): Promise<EventPageRepresentation> {
  const answer = await client.get<EventPageRepresentation>(`/v1/events${query}`);
  expect({ status: answer.status, text: answer.status === 200 ? '' : answer.text }).toEqual({ status: 200, text: '' });
  return eventPage.parse(answer.body);
}

/** Every event a client may see after a position, page by page. */
async function allEvents(client: Client, after = -1, more = ''): Promise<readonly EventRepresentation[]> {
  const events: EventRepresentation[] = [];
  for (let page = await pageOf(client, `?after=${after}${more}`); ;) {
    events.push(...page.items);
    if (page.nextAfter >= page.head) return events;
    page = await pageOf(client, `?after=${page.nextAfter}${more}`);
  }
}

const head = async (): Promise<number> => (await pageOf(auditor, '?limit=1')).head;
const positionsOf = (events: readonly EventRepresentation[]): readonly number[] =>
  events.map(({ position }) => position);
const isRising = (numbers: readonly number[]): boolean =>
  numbers.every((n, i) => i === 0 || n > Number(numbers[i - 1]));

describe('pages of events', () => {
  it('hold every event of the tenant once, in order, whatever their size', async () => {
    for (let n = 0; n < 6; n += 1) await harness.propose('demo.pay', { amount: n });
    const whole = await allEvents(auditor);
    expect(isRising(positionsOf(whole))).toBe(true);
    expect(whole.filter(({ eventType }) => eventType === 'tool.call.completed')).toHaveLength(6);
    for (const limit of [1, 7, 200]) expect(await allEvents(auditor, -1, `&limit=${limit}`)).toEqual(whole);
  });

  it('say where the end is, and go on from there', async () => {
    const before = await allEvents(auditor);
    const end = await pageOf(auditor, `?after=${await head()}`);
    expect(end).toEqual({ items: [], nextAfter: end.head, head: end.head });
    const { body } = await harness.propose('demo.pay', { amount: 77 });
    const after = await allEvents(auditor, end.nextAfter);
    expect(new Set(after.map(({ toolCallId }) => toolCallId))).toEqual(new Set([body.toolCallId]));
    expect(await allEvents(auditor)).toEqual([...before, ...after]);
  });

  it('can be of some types alone, with a cursor that still reaches the end', async () => {
    const some = await allEvents(auditor, -1, '&types=tool.call.proposed,tool.call.completed');
    expect(new Set(some.map(({ eventType }) => eventType))).toEqual(
      new Set(['tool.call.proposed', 'tool.call.completed']),
    );
    expect(await pageOf(auditor, '?types=run.handed_off')).toMatchObject({ items: [], nextAfter: await head() });
  });

  it('are refused for a cursor that is none, a position that is still to come, and types that do not exist', async () => {
    for (const query of ['after=x', 'after=', 'after=-2', 'after=1.5', 'after=1e2', 'after=999999999', 'limit=0']) {
      const pointer = query.startsWith('after') ? '/after' : '/limit';
      const problem = expectProblem(await auditor.get(`/v1/events?${query}`), 'invalid_request');
      expect({ query, pointer: problem.pointer }).toEqual({ query, pointer });
    }
    const types = expectProblem(await auditor.get('/v1/events?types=tool.call.completed,nothing'), 'invalid_request');
    expect(types.pointer).toBe('/types');
    expectProblem(await auditor.get('/v1/events?since=0'), 'invalid_request');
  });
});

describe('who reads events', () => {
  it('is, for a harness, whoever made the run, and sees that run alone', async () => {
    const { body } = await harness.propose('demo.pay', { amount: 500 }, { headers: { 'run-id': 'mine' } });
    await harness.propose('demo.pay', { amount: 501 }, { headers: { 'run-id': 'not-this-one' } });
    const own = await allEvents(harness, -1, `&runId=${body.runId}`);
    expect(own.map(({ eventType }) => eventType).slice(0, 2)).toEqual(['run.started', 'tool.call.proposed']);
    expect(new Set(own.map(({ runId }) => runId))).toEqual(new Set([body.runId]));
    expect(own).toEqual((await allEvents(auditor)).filter(({ runId }) => runId === body.runId));

    expectProblem(await harness.get('/v1/events'), 'not_authorized');
    const other = await stack.as(CAST.otherHarness);
    expectProblem(await other.get(`/v1/events?runId=${body.runId}`), 'run_not_found');
    expectProblem(await harness.get('/v1/events?runId=run_none'), 'run_not_found');
    for (const person of [CAST.elsewhereHarness, CAST.elsewhereOperator]) {
      const elsewhere = await stack.as(person);
      expectProblem(await elsewhere.get(`/v1/events?runId=${body.runId}`), 'run_not_found');
    }
    expectProblem(await (await stack.as(CAST.lena)).get('/v1/events'), 'not_authorized');
    const streamed = await harness.get('/v1/events', { headers: { accept: 'text/event-stream' } });
    expectProblem(streamed, 'not_authorized');
  });

  it('sees nothing of another tenant, and of the installation only as its operator', async () => {
    expect(await allEvents(await stack.as(CAST.elsewhereOperator))).toEqual([]);
    const ofInstallation = (events: readonly EventRepresentation[]) =>
      events.filter(
        ({ eventType }) =>
          /^(policy\.activated|capability\.|instance\.)/.test(eventType) && eventType !== 'capability.authorized',
      );
    expect(ofInstallation(await allEvents(auditor))).toEqual([]);
    const operator = await stack.as({ sub: 'olga', roles: ['operator'], tenant: 'head-office' });
    const seen = await allEvents(operator);
    expect(ofInstallation(seen).length).toBeGreaterThan(2);
    expect(ofInstallation(seen)).toEqual(seen);
  });

  it('reads no redacted argument', async () => {
    await harness.propose('demo.card', { cardToken: CARD }, { wait: 0 });
    const stream = await OpenStream.open(stack.proxy.url, await stack.token(CAST.auditor));
    const last = await head();
    await until(
      'the stream is at the end',
      () => stream.events.at(-1)?.data.position,
      (at) => at === last,
    );
    await stream.cut();
    const proposed = stream.events.findLast(({ type }) => type === 'tool.call.proposed');
    expect(proposed?.data.payload['arguments']).toEqual({
      cardToken: expect.stringMatching(/^\[redacted:[0-9a-f]{8}\]$/),
    });
    expect(JSON.stringify(stream.events)).not.toContain(CARD);
    expect(JSON.stringify(await allEvents(auditor))).not.toContain(CARD);
  });
});

describe('a stream of events', () => {
  it('reaches a harness that reconnects at random while it works: each event of its run once, in order', async () => {
    const label = { headers: { 'run-id': 'reconnecting' } };
    const { runId } = (await harness.propose('demo.pay', { amount: 1_000 }, label)).body;
    const token = await stack.token(CAST.harness);
    const progress = { working: true, connections: 0 };
    const work = (async () => {
      for (let n = 0; n < 1_000; n += 10) {
        const calls = Array.from({ length: 10 }, (_, i) =>
          harness.propose('demo.pay', { amount: 2_000 + n + i }, { ...label, wait: 30 }),
        );
        const others = harness.propose(
          'demo.pay',
          { amount: 90_000 + n },
          { headers: { 'run-id': 'beside' }, wait: 30 },
        );
        for (const answer of await Promise.all([...calls, others])) expect(answer.body.status).toBe('completed');
      }
    })().finally(() => (progress.working = false));
    const seen: StreamedEvent[] = [];
    const follow = async (forMs: number): Promise<void> => {
      progress.connections += 1;
      const stream = await OpenStream.open(stack.proxy.url, token, `?runId=${runId}`, seen.at(-1)?.id);
      await pause(forMs);
      await stream.cut();
      seen.push(...stream.events);
    };
    while (progress.working || progress.connections < 100) await follow(Math.random() * 120);
    await work;
    const expected = await allEvents(auditor, -1, `&runId=${runId}`);
    await until(
      'everything was streamed',
      async () => {
        if (seen.length < expected.length) await follow(300);
        return seen.length;
      },
      (length) => length >= expected.length,
    );
    expect(progress.connections).toBeGreaterThanOrEqual(100);
    expect(seen.map(({ data }) => data)).toEqual(expected);
    expect(seen.map(({ id, type }) => [id, type])).toEqual(
      expected.map(({ position, eventType }) => [String(position), eventType]),
    );
    expect(expected.filter(({ eventType }) => eventType === 'tool.call.completed')).toHaveLength(1_001);
  });

  it('keeps its place when a resumed connection breaks before anything new came, and starts over only without a place', async () => {
    const before = await head();
    const past = positionsOf(await allEvents(auditor)).filter((position) => position <= before);
    const place = past[Math.floor(past.length / 2)] as number;
    const token = await stack.token(CAST.auditor);
    const sentTo = async (lastEventId?: string): Promise<readonly number[]> => {
      const stream = await OpenStream.open(stack.proxy.url, token, '', lastEventId);
      await until(
        'the stream is at the end',
        () => Number(stream.events.at(-1)?.id ?? -1),
        (at) => at >= before,
      );
      await stream.cut();
      return stream.events.map(({ id }) => Number(id)).filter((id) => id <= before);
    };
    for (let n = 0; n < 10; n += 1) {
      await (await OpenStream.open(stack.proxy.url, token, '', String(place))).cut();
      await (await OpenStream.open(stack.proxy.url, token, '', String(before))).cut();
    }
    expect(await sentTo(String(place))).toEqual(past.filter((position) => position > place));
    expect(await sentTo()).toEqual(past);
  });

  it('costs nothing when a hundred readers reset it, live or in the middle of a replay', async () => {
    const asked = await harness.propose('demo.card', { cardToken: CARD }, { wait: 0 });
    const shown = (await auditor.call(asked.body.toolCallId)).body;
    const { pid } = stack.proxy;
    const token = await stack.token(CAST.auditor);
    const end = await head();
    const count = eventCount(stack.dataDir);
    await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const stream = await LazyStream.open(stack.proxy.url, token, n % 2 === 0 ? '' : `?after=${end}`);
        await pause(n % 50);
        stream.reset();
      }),
    );
    process.kill(pid, 0);
    expect(stack.proxy.pid).toBe(pid);
    expect((await auditor.call(asked.body.toolCallId)).body).toEqual(shown);
    expect(eventCount(stack.dataDir)).toBe(count);
    expect((await harness.propose('demo.pay', { amount: 32_000 })).body.status).toBe('completed');
    expect(stack.output).not.toContain('reached nobody');
  });

  it('says the same live as later, and goes on after a position', async () => {
    const token = await stack.token(CAST.auditor);
    const before = await head();
    const live = await OpenStream.open(stack.proxy.url, token, `?after=${before}`);
    const { response } = live;
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    await pause(100);
    await harness.propose('demo.pay', { amount: 31_000 });
    const later = await allEvents(auditor, before);
    await until(
      'all came live',
      () => live.events.length,
      (length) => length >= later.length,
    );
    await live.cut();
    expect(live.events.map(({ data }) => data)).toEqual(later);
  });

  it('is refused for ids of events that are none or still to come, and for a limit', async () => {
    const accept = 'text/event-stream';
    for (const id of ['garbage', '1x', '-5', '99999999', 'NaN']) {
      expectProblem(await auditor.get('/v1/events', { headers: { accept, 'last-event-id': id } }), 'invalid_request');
    }
    expectProblem(await auditor.get('/v1/events?limit=5', { headers: { accept } }), 'invalid_request');
  });

  it('is cut for a reader that takes nothing, which goes on later with what it had', async () => {
    const text = 'x'.repeat(100_000);
    stack.tool.behave('/demo.big', () => jsonAnswer({ ok: true, text }));
    const before = await head();
    const token = await stack.token(CAST.auditor);
    const lazy = await LazyStream.open(stack.proxy.url, token, `?after=${before}`);
    for (let n = 0; n < 100; n += 1) await harness.propose('demo.big', { text: `${n}${text}` });
    // 20 MB are more than sockets hold: the server has given up on this reader by now or will in a moment.
    await pause(8_000);
    const got = await lazy.drain();
    const all = await allEvents(auditor, before);
    expect(got.events.length).toBeGreaterThan(0);
    expect(got.events.length).toBeLessThan(all.length);
    const rest = await OpenStream.open(stack.proxy.url, token, '', got.events.at(-1)?.id);
    await until(
      'the rest came',
      () => got.events.length + rest.events.length,
      (count) => count >= all.length,
    );
    await rest.cut();
    expect([...got.events, ...rest.events].map(({ data }) => data.position)).toEqual(positionsOf(all));
  });

  it('ends when the process stops, at once, and goes on with the next one', async () => {
    const token = await stack.token(CAST.auditor);
    const before = await head();
    const stream = await OpenStream.open(stack.proxy.url, token, `?after=${before}`);
    await harness.propose('demo.pay', { amount: 41_000 });
    await until(
      'something came',
      () => stream.events.length,
      (length) => length > 0,
    );
    const begun = performance.now();
    const restarting = stack.restart('SIGTERM');
    await stream.ended;
    expect(performance.now() - begun).toBeLessThan(2_000);
    await restarting;
    expect(stream.comments.at(-1)).toBe('the stream is over; go on with Last-Event-ID');
    const next = await OpenStream.open(stack.proxy.url, token, '', stream.events.at(-1)?.id);
    await harness.propose('demo.pay', { amount: 42_000 });
    const all = await allEvents(auditor, before);
    await until(
      'the rest came',
      () => stream.events.length + next.events.length,
      (count) => count >= all.length,
    );
    await next.cut();
    expect([...stream.events, ...next.events].map(({ data }) => data)).toEqual(all);
  });

  it('records nothing', async () => {
    const count = eventCount(stack.dataDir);
    const stream = await OpenStream.open(stack.proxy.url, await stack.token(CAST.auditor));
    await until(
      'the stream is at the end',
      () => stream.events.length,
      (length) => length > 100,
    );
    await stream.cut();
    await allEvents(auditor);
    expect(eventCount(stack.dataDir)).toBe(count);
  });
});
