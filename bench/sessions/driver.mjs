/**
 * Loaded into a running proxy (`node --import`): appends to sessions from inside, as fast as it can, because over HTTP it is the parser
 * that would be measured. It is told what to do by `sessions.mjs` over a loopback port that it writes into BENCH_SESSIONS_FILE.
 */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';

const { SessionFollower } = /** @type {typeof import('../../src/sessions/session-follower.worker.js')} */ (
  await import(new URL('../../dist/sessions/session-follower.worker.js', import.meta.url).href)
);

/** @typedef {import('../../src/sessions/session-coordinator.js').SessionCoordinator} Coordinator */
/** @typedef {import('../../src/sessions/live-session.js').LiveSession} Live */

const TENANT = 'acme';
/** A turn of a conversation: its messages, and an answer streamed in so many pieces. */
const DELTAS_PER_TURN = 44;
const EVENTS_PER_TURN = DELTAS_PER_TURN + 6;
/** About 250 bytes of words; with the ids around them a payload takes about 300. */
const WORDS = 'The quick brown fox jumps over the lazy dog, and then it rests a while. '.repeat(4).slice(0, 250);
/** How long the main thread is kept before requests get their turn. */
const SLICE_MS = 0.25;

/** @type {Coordinator | null} */
let coordinator = null;
const { tick } = SessionFollower.prototype;
SessionFollower.prototype.tick = function () {
  if (coordinator === null) {
    coordinator = /** @type {any} */ (this).coordinator;
    listen();
  }
  return tick.call(this);
};

/** @returns {Coordinator} */
function sessions() {
  if (coordinator === null) throw new Error('the proxy has not started its sessions yet');
  return coordinator;
}

let names = 0;
const keyOf = () => ({ tenant: TENANT, sessionId: `bench-${++names}` });

let messages = 0;
const contents = [{ type: 'text', text: WORDS }];

/** A message by itself. */
function message() {
  messages += 1;
  return { eventType: 'user.message', payload: { messageId: `message-${messages}`, contents } };
}

let turns = 0;

/** What a harness says in one turn, in the order in which it says it. @param {string} runId */
function turnOf(runId) {
  turns += 1;
  const turn = { runId, turnId: `turn-${turns}` };
  const step = { ...turn, stepId: `step-${turns}` };
  const messageId = `answer-${turns}`;
  return [
    { eventType: 'user.message', payload: { messageId: `question-${turns}`, contents } },
    { eventType: 'turn.started', ...turn, payload: {} },
    { eventType: 'step.started', ...step, payload: {} },
    ...Array.from({ length: DELTAS_PER_TURN }, (_, index) => ({
      eventType: 'assistant.delta',
      ...step,
      payload: { messageId, index, text: WORDS },
    })),
    { eventType: 'assistant.message', ...step, payload: { messageId, contents, toolCalls: [] } },
    { eventType: 'step.ended', ...step, payload: { outcome: 'completed' } },
    { eventType: 'turn.ended', ...turn, payload: { outcome: 'completed' } },
  ];
}

const options = /** @type {const} */ ({ producer: 'harness', ownerEpoch: null });

/** @param {unknown} error */
const isSaturated = (error) => /** @type {{ code?: unknown }} */ (error).code === 'write_behind_saturated';

/** @typedef {{ sessionId: string, runId: string }} Place a session that a harness has opened, with a run */

/**
 * From the first append to the end of the last flush.
 * @param {readonly Place[]} places @param {number} events in all
 */
async function throughput(places, events) {
  const open = places.map(({ sessionId, runId }) => {
    const live = sessions().find({ tenant: TENANT, sessionId });
    if (live === undefined) throw new Error(`${sessionId} is not open`);
    return { live, runId };
  });
  const startedAt = performance.now();
  let appended = 0;
  let sliceAt = startedAt;
  while (appended < events) {
    const { live, runId } = /** @type {{ live: Live, runId: string }} */ (
      open[(appended / EVENTS_PER_TURN) % open.length]
    );
    const batch = turnOf(runId);
    for (;;) {
      try {
        await live.append(batch, options);
        break;
      } catch (error) {
        if (!isSaturated(error)) throw error;
        await live.flush();
      }
    }
    appended += EVENTS_PER_TURN;
    if (performance.now() - sliceAt > SLICE_MS) {
      await turn();
      sliceAt = performance.now();
    }
  }
  await Promise.all(open.map(({ live }) => live.flush()));
  const seconds = (performance.now() - startedAt) / 1000;
  for (const { live } of open) {
    const { headSeq, durableSeq } = live.status();
    if (headSeq !== durableSeq) throw new Error('a flush has answered before everything was durable');
  }
  return { seconds, perSecond: appended / seconds };
}

/** How long single appends take while flushes of their session run one after the other. @param {number} appends */
async function appendLatency(appends) {
  const key = keyOf();
  const session = await sessions().create(key);
  const over = new AbortController();
  const flushing = (async () => {
    while (!over.signal.aborted) {
      await session.flush();
      await turn();
    }
  })();
  /** @type {number[]} */
  const took = [];
  for (let at = 0; at < appends; at += 1) {
    const input = [message()];
    const from = performance.now();
    await session.append(input, options);
    took.push(performance.now() - from);
    if (at % 20 === 19) await turn();
  }
  over.abort();
  await flushing;
  await sessions().close(key);
  took.sort((a, b) => a - b);
  return { p50Ms: took[Math.floor(appends * 0.5)], p99Ms: took[Math.floor(appends * 0.99)], maxMs: took.at(-1) };
}

/** How long a session takes to load that has so many events. @param {Place} place @param {number} events */
async function load(place, events) {
  await throughput([place], events);
  const key = { tenant: TENANT, sessionId: place.sessionId };
  const rows = (sessions().find(key)?.facts.headSeq ?? 0) + 1;
  await sessions().close(key);
  const from = performance.now();
  const opened = await sessions().open(key);
  const ms = performance.now() - from;
  if (rows < events || opened.facts.headSeq !== rows - 1)
    throw new Error(`the load found ${opened.facts.headSeq + 1} rows`);
  await sessions().close(key);
  return { ms };
}

/** Sessions after one another, each let go of: what stays in memory must not grow with them. @param {number} rounds */
async function memory(rounds) {
  /** @type {number[]} */
  const mib = [];
  for (let round = 0; round < rounds; round += 1) {
    for (let n = 0; n < 10; n += 1) {
      const key = keyOf();
      const session = await sessions().create(key);
      for (let at = 0; at < 5_000; at += 500) {
        await session.append(Array.from({ length: 500 }, message), options);
        await turn();
      }
      await session.flush();
      await sessions().close(key);
    }
    globalThis.gc?.();
    mib.push(process.memoryUsage.rss() / 1024 / 1024);
  }
  return { mib };
}

/** @type {Record<string, (body: any) => Promise<object>>} */
const DOINGS = {
  throughput: ({ places, events }) => throughput(places, events),
  append: ({ appends }) => appendLatency(appends),
  load: ({ place, events }) => load(place, events),
  memory: ({ rounds }) => memory(rounds),
};

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    const { what, ...body } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const doing = DOINGS[what] ?? (() => Promise.reject(new Error(`no such thing: ${what}`)));
    doing(body).then(
      (result) => response.end(JSON.stringify(result)),
      (error) => response.writeHead(500).end(String(error?.stack ?? error)),
    );
  });
});

/** Only in the process that has the sessions: whatever starts it loads this file too. */
function listen() {
  server.listen(0, '127.0.0.1', () => {
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    writeFileSync(/** @type {string} */ (process.env['BENCH_SESSIONS_FILE']), String(address.port));
  });
  server.unref();
}
