/** What the bench prints: a table for people, and one line of JSON for programs. */
import { rounded } from './closed-loop.mjs';

/**
 * @typedef {import('./closed-loop.mjs').Speed} Speed
 * @typedef {object} Level one number of connections
 * @property {number} calls
 * @property {Speed} direct
 * @property {Speed} gated
 * @property {number} cpuMsPerCall of the proxy, user and system, all threads
 * @property {number} loadCpuMsPerCall of the program that makes the load
 * @property {number} rssMiBMax
 * @property {import('./processes.mjs').EventLoopFigures} eventLoop
 *
 * @typedef {object} Report
 * @property {Map<number, Level>} levels
 * @property {number} calls
 * @property {number} eventsPerCall
 * @property {number} bytesPerCall
 * @property {import('./sync-trace.mjs').SyncFigures | null} syncs null: strace is missing
 * @property {number} rssMiBMax
 * @property {{ firstThird: number, lastThird: number }} rssMiBThirds at the highest number of connections
 * @property {number} rssMiBWithBoot
 * @property {number | null} sinkLagMsEnd from the end of the load until the sink had written all events; null: no sink was on
 * @property {import('./approvals.mjs').ApprovalFigures} approvals
 * @property {import('./recovery.mjs').Recovery} recovery
 * @property {Record<string, import('./prefilled.mjs').PrefilledFigures> | null} prefilled
 */

const COLUMNS = [
  'connections', 'calls', 'direct/s', 'p50 ms', 'p99 ms', 'gated/s', 'p50 ms', 'p99 ms', 'CPU ms/call', 'load CPU', 'loop lag p99', 'loop busy', 'RSS MiB',
]; // prettier-ignore

/** @param {Report} report */
export function printReport(report) {
  const rows = [...report.levels].map(([connections, { calls, direct, gated, ...level }]) =>
    [
      connections,
      calls,
      direct.rate,
      direct.p50Ms,
      direct.p99Ms,
      gated.rate,
      gated.p50Ms,
      gated.p99Ms,
      level.cpuMsPerCall,
      level.loadCpuMsPerCall,
      `${level.eventLoop.lagP99Ms.toFixed(1)} ms`,
      `${Math.round(level.eventLoop.utilization * 100)} %`,
      Math.round(level.rssMiBMax),
    ].map(String),
  );
  const lines = [COLUMNS, ...rows];
  const widths = COLUMNS.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  console.log('');
  for (const line of lines) console.log(line.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('  '));
  console.log('');
  for (const note of [...notes(report), ...phaseNotes(report), ...prefilledNotes(report)]) console.log(note);
}

/** @param {Report} report */
function notes({ syncs, rssMiBWithBoot, rssMiBThirds, sinkLagMsEnd, eventsPerCall, bytesPerCall }) {
  return [
    `${eventsPerCall} events and ${Math.round(bytesPerCall)} bytes of database per call.`,
    syncs === null
      ? 'Syncs: not measured, because strace(1) is not installed.'
      : `Syncs: ${rounded(syncs.syncsPerCall, 3)} per call and ${rounded(syncs.unitsPerFlush, 1)} units per flush, in a run of ${syncs.calls} calls of its own at 64 connections below strace.`,
    `Highest resident set of the proxy, loading the policies included: ${Math.round(rssMiBWithBoot)} MiB.`,
    `Resident set at the most connections: ${Math.round(rssMiBThirds.firstThird)} MiB in the first third of the time, ${Math.round(rssMiBThirds.lastThird)} MiB in the last.`,
    sinkLagMsEnd === null
      ? 'No sink was on.'
      : `The file sink had written every event ${Math.round(sinkLagMsEnd)} ms after the end of the load.`,
    'The load comes from this process and the tool is a third: they share the processors with the proxy.',
  ];
}

/** @param {Report} report */
function phaseNotes({ approvals: { approveToDispatched, contended }, recovery }) {
  const waits = Object.entries(approveToDispatched).map(
    ([parallel, { p50Ms, p99Ms }]) => `p50 ${p50Ms} ms and p99 ${p99Ms} ms with ${parallel} at a time`,
  );
  return [
    `From a decision to the request at the tool: ${waits.join(', ')}.`,
    `${contended.approvals} approvals with ${contended.deciders} people deciding each at once: ${contended.rate}/s, p50 ${contended.p50Ms} ms, p99 ${contended.p99Ms} ms; each was consumed once.`,
    `After kill -9 with ${recovery.inFlight} calls at the tool: ready after ${recovery.readyMs} ms, every call ended or known as unknown after ${recovery.decidedMs} ms, ended after ${recovery.settledMs} ms.`,
  ];
}

/** @param {Report} report */
function prefilledNotes({ prefilled }) {
  return Object.values(prefilled ?? {}).flatMap(({ events, connections, recovery }) => [
    `With ${events} events to begin with${recovery === null ? '' : ` (ready ${recovery.readyMs} ms after kill -9)`}:`,
    ...Object.entries(connections).map(([count, { rate, p50Ms, p99Ms, cpuMsPerCall, toEmpty }]) => {
      const beside = toEmpty === null ? '' : `; of the empty store ${toEmpty.rate} × the rate, CPU ${toEmpty.cpu} ×`;
      return `  ${count.padStart(2)}  ${rate}/s  p50 ${p50Ms} ms  p99 ${p99Ms} ms  CPU ${cpuMsPerCall} ms${beside}`;
    }),
  ]);
}

/** @param {Report} report */
export function jsonLine({ levels, calls, eventsPerCall, bytesPerCall, syncs, ...rest }) {
  const connections = [...levels].map(([count, { direct, gated, ...level }]) => [
    String(count),
    {
      direct,
      gated,
      calls: level.calls,
      cpuMsPerCall: level.cpuMsPerCall,
      loadCpuMsPerCall: level.loadCpuMsPerCall,
      rssMiBMax: rounded(level.rssMiBMax, 1),
      eventLoopLagP99Ms: rounded(level.eventLoop.lagP99Ms, 2),
      eventLoopUtilization: rounded(level.eventLoop.utilization, 3),
    },
  ]);
  return JSON.stringify({
    bench: 'gated',
    connections: Object.fromEntries(connections),
    calls,
    eventsPerCall,
    bytesPerCall: Math.round(bytesPerCall),
    syncsPerCall: syncs === null ? null : rounded(syncs.syncsPerCall, 4),
    unitsPerFlush: syncs === null ? null : rounded(syncs.unitsPerFlush, 2),
    eventLoopLagP99Ms: rounded(Math.max(...[...levels.values()].map(({ eventLoop }) => eventLoop.lagP99Ms)), 2),
    rssMiBMax: rounded(rest.rssMiBMax, 1),
    rssMiBFirstThird: rounded(rest.rssMiBThirds.firstThird, 1),
    rssMiBLastThird: rounded(rest.rssMiBThirds.lastThird, 1),
    rssMiBWithBoot: rounded(rest.rssMiBWithBoot, 1),
    sinkLagMsEnd: rest.sinkLagMsEnd === null ? null : Math.round(rest.sinkLagMsEnd),
    ...rest.approvals,
    recovery: rest.recovery,
    prefilled: rest.prefilled,
  });
}
