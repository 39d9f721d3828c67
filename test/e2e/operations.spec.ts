import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ReadinessRepresentation } from '../../src/client/contract/health.js';
import { ask, opaqueManifest, permit } from '../support/demo-capabilities.js';
import { jsonAnswer } from '../support/fake-tool.js';
import { expectProblem, type Answer, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const NUMBER = { n: { type: 'integer' } };

let stack: Stack;
let harness: Client;
let operator: Client;
let nobody: Client;
let n = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.send', NUMBER, { timeout: '10s' }),
      ...opaqueManifest('demo.pay', NUMBER, { timeout: '10s' }),
    },
    policies: { ...permit('demo.send'), ...ask('demo.pay') },
    env: {
      COUNTERSIGN_EXECUTION__BREAKER_FAILURES_MAX: '2',
      COUNTERSIGN_READINESS__PROBE_INTERVAL_MS: '100',
      COUNTERSIGN_STORAGE__QUEUE_MAX: '20',
    },
  });
  harness = await stack.as(CAST.harness);
  operator = await stack.as(CAST.operator);
  nobody = stack.withToken(null);
  stack.tool.behave('/demo.send', () => jsonAnswer({ ok: true }));
});
afterAll(() => stack.destroy());

const readiness = (client = nobody): Promise<Answer<ReadinessRepresentation>> => client.get('/readyz');
const names = ({ body }: Answer<ReadinessRepresentation>): readonly string[] => body.reasons.map(({ name }) => name);
const propose = (capability: string, wait = 10) => {
  n += 1;
  return harness.propose(capability, { n }, { wait });
};

/** The value of one series, as a number. */
async function metric(series: string): Promise<number> {
  const { text } = await operator.get('/metrics');
  const line = text.split('\n').find((each) => each.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
}

describe('readiness', () => {
  it('has nothing to say about a process that is well, and lists what runs unattended', async () => {
    const answer = await readiness();
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ ready: true, degraded: false, reasons: [] });
    for (const { name } of answer.body.information) expect(name).toBe('unattended_permits');
    expect((await nobody.get('/healthz')).body).toEqual({ status: 'ok' });
  });

  it('names a pause as a reason to look, keeps the process in rotation, and does not say whose it is', async () => {
    await operator.control({ type: 'pause', target: { principal: 'sam' } });
    const answer = await readiness(operator);
    expect([answer.status, answer.body.ready, answer.body.degraded]).toEqual([200, true, true]);
    expect(answer.body.reasons).toEqual([
      { name: 'paused', severity: 'degraded', detail: '1 in force, of kind principal' },
    ]);
    expect(answer.text).not.toMatch(/sam|acme/);
    expect(await metric('countersign_pauses')).toBe(1);
    await operator.control({ type: 'unpause', target: { principal: 'sam' } });
    expect(names(await readiness())).toEqual([]);
  });

  it('names a held capability to callers with a token, and to strangers only that there is one', async () => {
    stack.tool.behave('/demo.send', () => ({ reset: true }));
    for (let times = 0; times < 2; times += 1) await propose('demo.send', 1);
    await until('held', readiness, (answer) => names(answer).includes('held_capabilities'));
    const [stranger, known] = [await readiness(), await readiness(harness)];
    expect([stranger.status, known.status]).toEqual([200, 200]);
    expect(stranger.text).not.toContain('demo.send');
    expect(known.body.reasons.find(({ name }) => name === 'held_capabilities')?.about).toEqual(['demo.send']);
    expect(await metric('countersign_capability_held{capability="demo.send"}')).toBe(1);
    stack.tool.behave('/demo.send', () => jsonAnswer({ ok: true }));
    await operator.control({ type: 'unpause', target: { capability: 'demo.send' } });
    await until('released', readiness, (answer) => names(answer).length === 0);
  });

  it('names the queue while more proposals come than the disk takes', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 20 && !seen.has('queue'); round += 1) {
      const crowd = Promise.all(Array.from({ length: 120 }, () => propose('demo.pay', 0)));
      for (let looks = 0; looks < 20; looks += 1) for (const name of names(await readiness())) seen.add(name);
      await crowd;
    }
    expect([...seen]).toContain('queue');
    await until('the queue is empty', readiness, (answer) => names(answer).length === 0);
  });
});

describe('metrics', () => {
  it('are for an operator of the installation alone, unless the settings say otherwise', async () => {
    expectProblem(await nobody.get('/metrics'), 'unauthenticated');
    expectProblem(await harness.get('/metrics'), 'not_authorized');
    expectProblem(await (await stack.as(CAST.elsewhereOperator)).get('/metrics'), 'not_authorized');
    expect((await operator.get('/metrics')).status).toBe(200);
  });

  it('are in the text format of Prometheus, every series under a described name, and without tenants and people', async () => {
    await propose('demo.send');
    const { text, headers } = await operator.get('/metrics');
    expect(headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const described = new Set(
      [...text.matchAll(/^# TYPE (\S+) (counter|gauge|histogram|summary)$/gm)].map(([, name]) => name),
    );
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    expect(
      lines.filter(
        (line) =>
          !/^[a-z_][a-z0-9_]*(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? (-?[0-9.e+-]+|NaN|[+-]?Inf)$/i.test(line),
      ),
    ).toEqual([]);
    const undescribed = lines
      .map((line) => /^[a-z0-9_]+/i.exec(line)?.[0] ?? line)
      .filter((name) => !described.has(name) && !described.has(name.replace(/_(bucket|sum|count)$/, '')));
    expect(undescribed).toEqual([]);
    expect(text).not.toMatch(/acme|warm-up|umbrella|sam|lena|otto/);
  });

  it('count calls, decisions, commits and requests, and show what waits', async () => {
    const series = {
      completed: 'countersign_calls_total{capability="demo.send",status="completed"}',
      allowed: 'countersign_policy_decisions_total{outcome="allow"}',
      commits: 'countersign_store_commit_seconds_count{lane="settle"}',
      requests: 'countersign_http_requests_total{method="POST",route="/v1/tool-calls",status="2xx"}',
      evaluations: 'countersign_policy_evaluation_seconds_count',
    };
    const read = async () => Promise.all(Object.values(series).map((each) => metric(each)));
    const before = await read();
    await propose('demo.send');
    await propose('demo.send');
    const after = await read();
    expect(after.map((value, index) => value - (before[index] ?? 0))).toEqual([2, 2, 2, 2, 2]);
    const versions = `version="0.1.0",node="${process.version}",versions="countersign/0.1.0 events/1 schema/[0-9]+"`;
    expect((await operator.get('/metrics')).text).toMatch(new RegExp(`^countersign_build_info{${versions}} 1$`, 'm'));
    await until(
      'pending',
      () => metric('countersign_pending_approvals'),
      (value) => value > 0,
    );
    for (const gauge of [
      'countersign_store_wal_bytes',
      'nodejs_eventloop_lag_p99_seconds',
      'countersign_data_dir_free_bytes',
      'process_cpu_seconds_total',
    ])
      expect(await metric(gauge)).toBeGreaterThan(0);
    for (const quiet of [
      'countersign_executions_in_flight{capability="demo.send"}',
      'countersign_store_queue_units{lane="settle"}',
    ])
      expect(await metric(quiet)).toBe(0);
    expect(await metric('countersign_policy_probe_good')).toBe(1);
  });

  it('count strangers, who are logged and not recorded', async () => {
    const before = await metric('countersign_http_unauthenticated_total');
    for (let times = 0; times < 3; times += 1) expectProblem(await nobody.get('/v1/tool-calls'), 'unauthenticated');
    expect((await metric('countersign_http_unauthenticated_total')) - before).toBe(3);
    expect(stack.output).toContain('requests without a valid token were refused');
  });
});

describe('other settings', () => {
  it('let this machine read the metrics, and tell when the disk has less space than wanted', async () => {
    const tight = await Stack.start({
      env: {
        COUNTERSIGN_METRICS__ACCESS: 'loopback',
        COUNTERSIGN_READINESS__DISK_FREE_BYTES_MIN: String(1024 ** 5),
      },
    });
    try {
      expect((await tight.withToken(null).get('/metrics')).status).toBe(200);
      const answer = await tight.withToken(null).get<ReadinessRepresentation>('/readyz');
      expect([answer.status, answer.body.ready, answer.body.degraded]).toEqual([200, true, true]);
      expect(answer.body.reasons).toMatchObject([{ name: 'disk', severity: 'degraded' }]);
    } finally {
      await tight.destroy();
    }
  });
});
