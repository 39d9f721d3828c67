import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '../support/until.js';
import { CALLS, CrashLane, type CrashRound, type RoundOutcome } from './support/crash-lane.js';
import { contradictions } from './support/oracle.js';
import { callRecords, eventCounts, eventIds, halfWritten, untrue } from './support/stopped-database.js';

/** The deadline of an attempt, quiesce, visibility delay of the provider, a few looks, and a slow machine. */
const SETTLES_WITHIN_MS = 30_000;

/** Before and after the commit of a unit with the event; after it, all calls of the round stand behind it. */
const around = (event: string, more: Partial<CrashRound> = {}, behind = CALLS): CrashRound[] => [
  { title: `before the commit of ${event}`, point: 'storage.before-commit', event, ...more },
  { title: `after the commit of ${event}`, point: 'storage.after-commit', event, count: behind, ...more },
];

const ROUNDS: readonly CrashRound[] = [
  { title: 'in the middle of a batch', point: 'storage.unit-written', event: 'tool.call.dispatching', count: 2 },
  ...around('tool.call.dispatching'),
  { title: 'before the first byte', point: 'egress.before-write', method: 'POST' },
  { title: 'before the last of several is sent', point: 'egress.before-write', method: 'POST', count: CALLS },
  { title: 'with all requests on the wire', point: 'egress.written', method: 'POST', count: CALLS },
  ...around('tool.call.dispatched'),
  { title: 'with an answer of success in hand', point: 'proxy.answer-unrecorded', count: 1 },
  { title: 'with a refusal in hand', point: 'proxy.answer-unrecorded', count: 2 },
  { title: 'with an answer lost after the effect', point: 'proxy.answer-unrecorded', count: 3 },
  { title: 'with an answer lost and no effect', point: 'proxy.answer-unrecorded', count: 4 },
  ...around('tool.call.completed', {}, 1),
  ...around('tool.call.failed', {}, 1),
  ...around('tool.call.result_unknown', {}, 2),
  ...around('reconciliation.started', {}, 2),
  ...around('reconciliation.resolved', {}, 1),
  ...around('approval.required', { asksPeople: true }),
  ...around('approval.granted', { asksPeople: true }),
  ...around('approval.consumed', { asksPeople: true }),
  {
    title: 'in the middle of the sweep after a death with all requests on the wire',
    point: 'egress.written',
    method: 'POST',
    count: CALLS,
    thenAtBoot: { point: 'proxy.sweep-settled', count: 2 },
  },
  { title: 'between the 200 of a webhook and its ack', point: 'outbox.webhook-taken', count: 5 },
];

/** Every other round in a lane of its own: two processes boot in the time of one. */
const LANES = ['even', 'odd'];
const lanes: CrashLane[] = [];
const outcomes = new Map<string, RoundOutcome | Error>();

beforeAll(async () => {
  lanes.push(...(await Promise.all(LANES.map((name) => CrashLane.start(name)))));
  await Promise.all(lanes.map((lane, n) => playEveryOther(lane, n)));
}, 300_000);
afterAll(() => Promise.all(lanes.map((lane) => lane.end())));

async function playEveryOther(lane: CrashLane, first: number): Promise<void> {
  for (const [number, round] of ROUNDS.entries()) {
    if (number % LANES.length !== first) continue;
    const outcome = await lane.die(round, number).catch((error: Error) => error);
    outcomes.set(round.title, outcome);
    // What comes after a round that did not end as planned would show nothing.
    if (outcome instanceof Error) return;
  }
}

describe('a process that is killed', () => {
  it.each(ROUNDS)('$title keeps what it acknowledged, whatever the tool did', ({ title }) => {
    const outcome = outcomes.get(title);
    if (outcome === undefined || outcome instanceof Error) throw outcome ?? new Error('the round was not played');
    expect(outcome.broken).toEqual([]);
    expect(new Set(outcome.toolCallIds).size).toBe(CALLS);
  });

  it.each(LANES)('has run no key twice, and its record and the count of the tool agree (%s rounds)', async (name) => {
    const lane = lanes[LANES.indexOf(name)] as CrashLane;
    const { stack, receiver } = lane;
    const ids = ROUNDS.flatMap(({ title }, number) => {
      const outcome = outcomes.get(title);
      return LANES[number % LANES.length] === name && outcome instanceof Object && 'toolCallIds' in outcome
        ? outcome.toolCallIds
        : [];
    });
    const isOpen = /^(?:authorized|dispatching|dispatched|result_unknown|reconciling)$/;
    const open = (): number => callRecords(stack.dataDir).filter(({ status }) => isOpen.test(status)).length;
    await until('every call settled', open, (left) => left === 0, SETTLES_WITHIN_MS);
    const stats = await stack.stats();
    const wanted = eventIds(stack.dataDir, ['tool.call.', 'approval.']);
    const untold = (): number => wanted.filter((id) => !receiver.ids.includes(id)).length;
    await until('every event at the receiver', untold, (left) => left === 0, SETTLES_WITHIN_MS);
    await stack.stop();

    const calls = callRecords(stack.dataDir);
    expect(contradictions(calls, stats)).toEqual([]);
    expect(halfWritten(stack.dataDir)).toEqual([]);
    expect(untrue(stack.dataDir)).toEqual([]);
    expect(ids.filter((id) => !calls.some(({ toolCallId }) => toolCallId === id))).toEqual([]);
    expect(calls.filter(({ status }) => !['completed', 'failed'].includes(status))).toEqual([]);
    expect([...eventCounts(stack.dataDir, 'approval.consumed').values()].filter((count) => count !== 1)).toEqual([]);
    for (const status of ['completed', 'failed']) {
      expect(calls.filter((call) => call.status === status).length).toBeGreaterThan(CALLS);
    }
  });
});
