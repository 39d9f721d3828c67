import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { GatedAnswers } from '../../bench/gated-load.mjs';
import { median, ratioOf } from '../../bench/ratios.mjs';
import { differences, sinkDifferences } from '../../bench/verify.mjs';

const SCRIPT = fileURLToPath(new URL('../../bench/bench.mjs', import.meta.url));
/** A machine that is busy with other specs needs many times what a quiet one does. */
const TIMEOUT_MS = 600_000;

const number = expect.any(Number);
const speed = { rate: number, p50Ms: number, p99Ms: number };

async function bench(args: readonly string[]): Promise<{ code: number | null; lines: readonly string[] }> {
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await exited, lines: `${errors}${output}`.trim().split('\n') };
}

describe('the bench', () => {
  it(
    'finds nothing that differs and ends with its figures as one line of JSON',
    async () => {
      const args = ['--quick', '--calls', '300', '--others', '3', '--prefill', '20000'];
      const { code, lines } = await bench(args);
      const differing = lines.filter((line) => line.startsWith('DIFFERS'));
      expect({ code, differing, output: code === 0 ? [] : lines }).toEqual({ code: 0, differing: [], output: [] });
      const figures = JSON.parse(lines.at(-1) ?? '') as Record<string, Record<string, object>>;
      expect(Object.keys(figures['connections'] ?? {})).toEqual(['1', '16', '64']);
      for (const level of Object.values(figures['connections'] ?? {})) {
        expect(level).toMatchObject({
          direct: speed,
          gated: speed,
          cpuMsPerCall: number,
          eventLoopUtilization: number,
        });
      }
      expect(figures).toMatchObject({
        bench: 'gated',
        calls: 390,
        eventsPerCall: 7,
        bytesPerCall: number,
        eventLoopLagP99Ms: number,
        rssMiBMax: number,
        rssMiBFirstThird: number,
        rssMiBLastThird: number,
        sinkLagMsEnd: number,
        approveToDispatched: { 1: { p50Ms: number, p99Ms: number }, 16: { p50Ms: number, p99Ms: number } },
        contended: { approvals: 5, deciders: 8, rate: number, p50Ms: number, p99Ms: number },
        recovery: { inFlight: 16, readyMs: number, decidedMs: number, settledMs: number },
      });
      expect(figures).toHaveProperty('syncsPerCall');
      expect(figures).toHaveProperty('unitsPerFlush');
      const filled = figures['prefilled']?.['20000'] as { events: number; connections: Record<string, object> };
      expect(filled.events).toBeGreaterThanOrEqual(20_000);
      expect(filled.connections['64']).toMatchObject({ rate: number, toEmpty: { rate: number, cpu: number } });
    },
    TIMEOUT_MS,
  );
});

describe('what the bench holds against each other', () => {
  const recorded = (calls: number) => ({
    leaves: 101 + calls * 7,
    dense: true,
    calls,
    fewestEvents: 7,
    mostEvents: 7,
    callEvents: calls * 7,
    callUnits: calls * 2,
    statuses: { completed: calls },
    otherEvents: calls === 0 ? { 'capability.registered': 101 } : { 'capability.registered': 100, 'run.started': 1 },
  });
  const before = { ...recorded(0), leaves: 100, otherEvents: { 'capability.registered': 100 } };

  function facts() {
    const answers = new GatedAnswers();
    for (const toolCallId of ['call_a', 'call_b'])
      answers.take(200, JSON.stringify({ status: 'completed', toolCallId }));
    const tool = { executions: 2, keys: 2, repeatedKeys: 0 };
    return { calls: 2, answers, tool, before, after: recorded(2), exitCode: 0 };
  }

  it('agrees when answers, tool and ledger tell the same', () => {
    expect(differences(facts())).toEqual([]);
    expect(sinkDifferences({ lines: 115, distinct: 115, leaves: 115, lagMs: 5_000 })).toEqual([]);
  });

  it.each([
    ['a key that the tool executed twice', { tool: { executions: 3, keys: 2, repeatedKeys: 1 } }],
    ['a call that the tool never saw', { tool: { executions: 1, keys: 1, repeatedKeys: 0 } }],
    ['a call without its end', { after: { ...recorded(2), statuses: { completed: 1, result_unknown: 1 } } }],
    ['an event too few', { after: { ...recorded(2), fewestEvents: 6, leaves: 114 } }],
    ['an event of no call', { after: { ...recorded(2), otherEvents: { 'run.started': 2 } } }],
    ['a gap in the positions', { after: { ...recorded(2), dense: false } }],
    ['a proxy that ended in disorder', { exitCode: 1 }],
  ])('differs over %s', (_, changed) => {
    expect(differences({ ...facts(), ...changed })).not.toEqual([]);
  });

  it.each([
    ['an event that is missing', { lines: 114, distinct: 114 }],
    ['an event that is told twice', { lines: 116, distinct: 115 }],
    ['a sink that is late', { lagMs: 5_001 }],
  ])('differs over %s in the file of the sink', (_, changed) => {
    expect(sinkDifferences({ lines: 115, distinct: 115, leaves: 115, lagMs: 10, ...changed })).not.toEqual([]);
  });
});

describe('the figures of rounds', () => {
  it('are medians, and ratios of two candidates within the same round', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3]), median([])]).toEqual([2, 2.5, Number.NaN]);
    const shot = (name: string, round: number, rate: number, p50Ms: number) => {
      return { name, round, rate, p50Ms, connections: 16, p99Ms: 1, cpuMsPerCall: p50Ms, requests: 1 };
    };
    const shots = [
      shot('ours', 1, 200, 2),
      shot('theirs', 1, 100, 4),
      shot('ours', 2, 300, 1),
      shot('theirs', 2, 100, 4),
      shot('theirs', 3, 1, 1),
    ];
    expect(ratioOf(shots, 'ours', 'theirs', 16)).toEqual({ rate: 2.5, p50: 3, cpu: 3 });
  });
});
