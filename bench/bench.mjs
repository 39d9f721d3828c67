/**
 * `npm run bench`: what the gated path costs, beside the same tool called directly. A closed loop at 1, 16 and 64 connections with a file
 * sink on; then approvals, a kill, and on demand a full store. Every call is checked afterwards, at the tool, in the ledger and in the
 * sink's file. Ends with a non-zero code when anything differs.
 *
 *   node bench/bench.mjs [--calls N] [--quick] [--prefill N[,N]] [--rounds N] [--no-sink] [--others N] [--profile DIR]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { measureApprovals } from './approvals.mjs';
import { measureGatedPath } from './gated-path.mjs';
import { comparePrefilled } from './prefilled.mjs';
import { killAll, startTool } from './processes.mjs';
import { measureRecovery } from './recovery.mjs';
import { jsonLine, printReport } from './report.mjs';
import { canTrace, countSyncs } from './sync-trace.mjs';

const DEFAULT_CALLS = 100_000;
const QUICK_CALLS = 2_000;
const TRACED_CALLS_MAX = 5_000;
const DECIDERS = 8;

function readOptions() {
  const { values } = parseArgs({
    options: {
      calls: { type: 'string' },
      quick: { type: 'boolean', default: false },
      prefill: { type: 'string', default: '' },
      rounds: { type: 'string' },
      'no-sink': { type: 'boolean', default: false },
      others: { type: 'string' },
      profile: { type: 'string' },
    },
  });
  const calls = Number(values.calls ?? (values.quick ? QUICK_CALLS : DEFAULT_CALLS));
  const rounds = Number(values.rounds ?? (values.quick ? 1 : 5));
  const prefill = values.prefill.split(',').filter(Boolean).map(Number);
  if (!Number.isSafeInteger(calls) || calls < 100) throw new Error('--calls takes a whole number from 100');
  if (![rounds, ...prefill].every((value) => Number.isSafeInteger(value) && value > 0)) {
    throw new Error('--prefill and --rounds take whole numbers from 1');
  }
  const others = values.others === undefined ? undefined : Number(values.others);
  const profileDir = values.profile === undefined ? null : resolve(values.profile);
  return { calls, rounds, prefill, others, withSink: !values['no-sink'], profileDir };
}

/** The part of the calls that a phase beside the closed loop makes. @param {number} part @param {number} least @param {number} most */
const partOf = (part, least, most) => Math.min(most, Math.max(least, Math.round(options.calls * part)));

/** @returns {Promise<number>} the exit code */
async function bench() {
  const { others } = options;
  const gated = await measureGatedPath(join(dir, 'gated'), tool, options);
  const syncs = canTrace()
    ? await countSyncs(join(dir, 'traced'), tool.url, { calls: partOf(0.25, 1, TRACED_CALLS_MAX), others })
    : null;
  const approvals = await measureApprovals(join(dir, 'approvals'), tool, {
    approvals: partOf(1 / 500, 10, 200),
    contended: partOf(1 / 1000, 5, 100),
    deciders: DECIDERS,
    others,
  });
  const inFlight = partOf(1 / 200, 16, 64);
  const recovery = await measureRecovery(join(dir, 'recovery'), tool, { inFlight, others });
  const prefilled =
    options.prefill.length === 0
      ? null
      : await comparePrefilled(join(dir, 'prefilled'), tool, {
          sizes: options.prefill,
          rounds: options.rounds,
          calls: partOf(0.1, 100, 10_000),
          inFlight,
          others,
        });
  const report = {
    ...gated.figures,
    syncs,
    approvals: approvals.figures,
    recovery: recovery.recovery,
    prefilled: prefilled?.stores ?? null,
  };
  const problems = [gated, approvals, recovery, prefilled].flatMap((phase) => phase?.problems ?? []);
  printReport(report);
  for (const problem of problems) console.log(`DIFFERS  ${problem}`);
  if (problems.length === 0) console.log(gated.checked);
  console.log(jsonLine(report));
  return problems.length === 0 ? 0 : 1;
}

const options = readOptions();
const dir = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
const tool = await startTool();

function cleanUp() {
  killAll();
  rmSync(dir, { recursive: true, force: true });
}

for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM'])) {
  process.once(signal, () => {
    cleanUp();
    process.exit(1);
  });
}
try {
  process.exitCode = await bench();
} finally {
  cleanUp();
}
