import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { until } from '../support/until.js';
import { WebhookReceiver, type Answerer } from '../support/webhook-receiver.js';
import { FaultStack } from './support/fault-stack.js';

interface Told {
  readonly position: number;
  readonly eventId: string;
  readonly eventType: string;
}

let receiver: WebhookReceiver;
let stack: FaultStack;
let file: string;

/** One installation for all of it: every test leaves a proxy that runs and a receiver that has everything. */
beforeAll(async () => {
  receiver = await WebhookReceiver.start();
  file = join(mkdtempSync(join(tmpdir(), 'countersign-sink-')), 'events.ndjson');
  await begin();
});
afterAll(async () => {
  await stack.end();
  rmSync(dirname(file), { recursive: true });
  await receiver.stop();
});

async function begin(): Promise<void> {
  const webhook = {
    kind: 'webhook',
    url: receiver.url,
    secrets: ['env:OPS_SECRET'],
    allowAddresses: ['loopback'],
    from: 'beginning',
    types: ['tool.call.*', 'approval.*', 'run.*', 'policy.decided'],
    backoffMs: 20,
    backoffMsMax: 100,
    timeoutMs: 2000,
  };
  stack = await FaultStack.start({
    env: {
      OPS_SECRET: `whsec_${Buffer.alloc(32, 9).toString('base64')}`,
      COUNTERSIGN_OUTBOX__SINKS: JSON.stringify({ ops: webhook, siem: { kind: 'file', path: file } }),
    },
  });
}

/** Everything that is recorded, page by page. */
async function recorded(): Promise<readonly Told[]> {
  const events: Told[] = [];
  for (let after = -1; ;) {
    const { body } = await stack.call(PEOPLE.auditor, 'GET', `/v1/events?after=${after}`);
    const page = body as { items: Told[]; nextAfter: number; head: number };
    events.push(...page.items);
    if (page.nextAfter >= page.head) return events;
    after = page.nextAfter;
  }
}

/** Refunds in the background; what is refused because the server is dead is asked again by nobody. */
async function traffic(count: number, name: string): Promise<void> {
  const order = await stack.order(`ord_${name}`);
  const refunds = Array.from({ length: count }, (_, n) =>
    stack.refund(`${name}-${n}`, { orderId: order, amountMinor: 10 + n }, 5).catch(() => null),
  );
  await Promise.all(refunds);
}

const lines = (): readonly { id: string; sequence: string }[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        // What has no end yet is being written.
        .replace(/[^\n]*$/, '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as { id: string; sequence: string })
    : [];

async function seeNothingLost(): Promise<void> {
  const wanted = (await recorded()).filter(({ eventType }) =>
    /^(?:(?:tool\.call|approval|run)\.|policy\.decided$)/.test(eventType),
  );
  expect(wanted.length).toBeGreaterThan(50);
  await until(
    'every event at the receiver',
    () => wanted.filter(({ eventId }) => !receiver.ids.includes(eventId)).length,
    (missing) => missing === 0,
    30_000,
  );
  const events = new Map<string, unknown>();
  for (const { id, body } of receiver.requests) {
    const event: unknown = JSON.parse(body);
    if (events.has(id)) expect(event).toEqual(events.get(id));
    events.set(id, event);
  }
  seeOrderPerCall();
}

/** Of each call, what came first came in order. */
function seeOrderPerCall(): void {
  const newest = new Map<string, number>();
  const seen = new Set<string>();
  for (const { id, subject, position } of receiver.requests) {
    if (seen.has(id)) continue;
    seen.add(id);
    if (!subject.startsWith('call/')) continue;
    expect(position).toBeGreaterThan(newest.get(subject) ?? -1);
    newest.set(subject, position);
  }
}

/** Kills the proxy at the n-th delivery from now on, before or after the receiver has answered. */
function killAt(n: number, when: 'before the answer' | 'after the answer'): { readonly done: Promise<void> } {
  let killed = (): void => {};
  const done = new Promise<void>((resolve) => (killed = resolve));
  const kill = (): void => void stack.kill().then(killed);
  const last = receiver.requests.length + n;
  const answer: Answerer = (_, response) => {
    const isTheOne = receiver.requests.length === last;
    if (isTheOne && when === 'before the answer') return kill();
    response.writeHead(200).end(isTheOne ? kill : undefined);
  };
  receiver.answer = answer;
  return { done };
}

describe('a process that is killed while it tells its sinks', () => {
  it.each([
    [1, 'before the answer'],
    [17, 'before the answer'],
    [18, 'after the answer'],
  ] as const)('at delivery %d, %s, loses nothing and repeats only with the same id', async (n, when) => {
    const { done } = killAt(n, when);
    const busy = traffic(20, `first-${n}`);
    await done;
    await busy;
    receiver.takeEverything();
    await stack.boot();
    await traffic(10, `second-${n}`);
    await seeNothingLost();
  });

  it('again and again keeps the file of a log shipper whole: every event, in order, each line a line', async () => {
    for (let round = 0; round < 3; round += 1) {
      const before = lines().length;
      const busy = traffic(15, `round-${round}`);
      await until(
        'more lines',
        () => lines().length,
        (count) => count > before + 20,
      );
      await stack.kill();
      await busy;
      await stack.boot();
    }
    const wanted = await recorded();
    await until(
      'every event in the file',
      () => new Set(lines().map(({ id }) => id)),
      (ids) => wanted.every(({ eventId }) => ids.has(eventId)),
    );
    const first = [
      ...new Map(
        lines()
          .toReversed()
          .map(({ id, sequence }) => [id, Number(sequence)]),
      ).values(),
    ];
    expect(first.toSorted((a, b) => a - b)).toEqual(Array.from({ length: first.length }, (_, n) => n));
    await seeNothingLost();
  });

  it('while the receiver is down has lost nothing when it is back', async () => {
    receiver.answer = (_, response) => response.destroy();
    const before = receiver.requests.length;
    await traffic(20, 'unheard');
    await until(
      'an attempt',
      () => receiver.requests.length,
      (count) => count > before,
    );
    await stack.kill();
    await stack.boot();
    receiver.takeEverything();
    await seeNothingLost();
  });
});
