/**
 * `npm run bench:sessions`: how fast sessions become durable, how long an append takes while the disk is busy, how long a load takes,
 * and whether proposals notice. The proxy runs as its users run it, with a driver loaded into it that appends from inside.
 *
 *   node bench/sessions/sessions.mjs [--events N] [--quick]
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { memoryMiB } from '../process-figures.mjs';
import { installation, killAll, startTool } from '../processes.mjs';
import { ToolCallClient } from '../tool-call-client.mjs';
import { gatedRequests } from '../work.mjs';

const DRIVER = new URL('./driver.mjs', import.meta.url).href;
const PROPOSALS_PER_SECOND = 50;
const LOADED_EVENTS = 100_000;
const MANY_SESSIONS = 50;

/** What must hold on the machine it was written for. */
const TARGETS = { jsonl: 100_000, database: 50_000, appendP99Ms: 1, load100kMs: 1000, governedRatio: 2 };

const { values } = parseArgs({
  options: { events: { type: 'string', default: '1000000' }, quick: { type: 'boolean', default: false } },
});
const events = values.quick ? 100_000 : Number(values.events);
const idleSeconds = values.quick ? 3 : 10;
const dir = mkdtempSync(join(tmpdir(), 'countersign-bench-sessions-'));
let series = 0;

/**
 * Proposals at a fixed rate until `stop` resolves; answers their latencies in milliseconds, measured from when each was due.
 * @param {ToolCallClient} client @param {string} token @param {Promise<unknown>} stop
 */
async function propose(client, token, stop) {
  const over = new AbortController();
  void stop.finally(() => over.abort());
  /** @type {number[]} */
  const took = [];
  /** @type {Promise<void>[]} */
  const open = [];
  const request = gatedRequests(token, `sessions-${++series}`);
  const startedAt = performance.now();
  for (let n = 0; !over.signal.aborted; n += 1) {
    const dueAt = startedAt + (n * 1000) / PROPOSALS_PER_SECOND;
    const early = dueAt - performance.now();
    if (early > 0) await pause(early);
    open.push(
      client.post(request(n)).then(({ status, body }) => {
        if (status !== 200) throw new Error(`a proposal was answered ${status}: ${JSON.stringify(body)}`);
        took.push(performance.now() - dueAt);
      }),
    );
  }
  await Promise.all(open);
  return took.sort((a, b) => a - b);
}

let sessions = 0;

/**
 * Opens a session and begins a run in it, as a harness does.
 * @param {string} url @param {string} token
 */
async function begin(url, token) {
  /** @param {string} path @param {object} body @returns {Promise<any>} */
  const post = async (path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const response = await fetch(`${url}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return response.json();
  };
  const sessionId = `harness-${++sessions}`;
  const { ownerEpoch } = await post('/sessions', { sessionId, harness: { instanceId: 'bench' } });
  const { runId } = await post(`/sessions/${sessionId}/runs`, { ownerEpoch, clientId: 'bench' });
  return { sessionId, runId };
}

/** @param {readonly number[]} sorted @param {number} part */
const quantile = (sorted, part) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

/** @param {'jsonl' | 'database'} backend @param {import('../processes.mjs').Tool} tool */
async function measure(backend, tool) {
  const portFile = join(dir, `${backend}.port`);
  const place = await installation(join(dir, backend), tool.url, {
    others: 0,
    env: {
      BENCH_SESSIONS_FILE: portFile,
      COUNTERSIGN_SESSIONS__BACKEND: backend,
      COUNTERSIGN_SESSIONS__SNAPSHOTS: backend === 'jsonl' ? 'file' : 'database',
    },
  });
  const proxy = await place.start({ nodeArgs: ['--expose-gc', '--import', DRIVER] });
  while (!existsSync(portFile) || readFileSync(portFile, 'utf8') === '') await pause(20);
  const driver = `http://127.0.0.1:${readFileSync(portFile, 'utf8')}`;
  /** @param {object} what @returns {Promise<any>} */
  const drive = async (what) => {
    const response = await fetch(driver, { method: 'POST', body: JSON.stringify(what) });
    if (!response.ok) throw new Error(await response.text());
    return response.json();
  };
  const client = new ToolCallClient(proxy.url);
  try {
    // Everything is compiled before anything is timed.
    await propose(client, place.token, pause(2000));
    await drive({ what: 'throughput', places: [await begin(proxy.url, place.token)], events: 50_000 });
    const idle = await propose(client, place.token, pause(idleSeconds * 1000));
    /** @param {number} count of sessions */
    const loaded = async (count) => {
      const places = await Promise.all(Array.from({ length: count }, () => begin(proxy.url, place.token)));
      const work = drive({ what: 'throughput', places, events });
      const took = await propose(client, place.token, work);
      return { ...(await work), governedP99Ms: quantile(took, 0.99) };
    };
    const [one, many] = [await loaded(1), await loaded(MANY_SESSIONS)];
    const append = await drive({ what: 'append', appends: 50_000 });
    const load = await drive({
      what: 'load',
      place: await begin(proxy.url, place.token),
      events: LOADED_EVENTS,
    });
    const { mib } = await drive({ what: 'memory', rounds: values.quick ? 2 : 6 });
    return {
      durablePerSecond: Math.round(Math.min(one.perSecond, many.perSecond)),
      durablePerSecondOne: Math.round(one.perSecond),
      durablePerSecondMany: Math.round(many.perSecond),
      appendP99Ms: rounded(append.p99Ms),
      load100kMs: Math.round(load.ms),
      governedIdleP99Ms: rounded(quantile(idle, 0.99)),
      governedP99Ms: rounded(Math.max(one.governedP99Ms, many.governedP99Ms)),
      rssMiBRounds: mib.map(Math.round),
      rssMiBMax: Math.round(memoryMiB(proxy.pid, 'VmHWM')),
    };
  } finally {
    await client.close();
    await proxy.kill('SIGTERM');
  }
}

/** @param {number} ms */
const rounded = (ms) => Math.round(ms * 1000) / 1000;

const tool = await startTool();
try {
  const jsonl = await measure('jsonl', tool);
  const database = await measure('database', tool);
  const met = [jsonl, database].map((figures, at) => {
    const wanted = at === 0 ? TARGETS.jsonl : TARGETS.database;
    return {
      durable: figures.durablePerSecond >= wanted,
      append: figures.appendP99Ms < TARGETS.appendP99Ms,
      load: figures.load100kMs < TARGETS.load100kMs,
      governed: figures.governedP99Ms <= TARGETS.governedRatio * figures.governedIdleP99Ms,
    };
  });
  console.table({ jsonl: { ...jsonl, rssMiBRounds: undefined }, database: { ...database, rssMiBRounds: undefined } });
  console.table({ 'jsonl met': met[0], 'database met': met[1] });
  console.log(JSON.stringify({ bench: 'sessions', jsonl, database }));
  process.exitCode = met.every(({ governed }) => governed) ? 0 : 1;
} finally {
  tool.stop();
  killAll();
  rmSync(dir, { recursive: true, force: true });
}
