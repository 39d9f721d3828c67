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
 * @property {number} rssMiBWithBoot
 */

const COLUMNS = [
  'connections', 'calls', 'direct/s', 'p50 ms', 'p99 ms', 'gated/s', 'p50 ms', 'p99 ms', 'CPU ms/call', 'load CPU', 'loop lag p99', 'loop busy', 'RSS MiB',
]; // prettier-ignore

/** @param {Report} report */
export function printTable(report) {
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
  for (const note of notes(report)) console.log(note);
}

/** @param {Report} report */
function notes({ syncs, rssMiBWithBoot, eventsPerCall, bytesPerCall }) {
  return [
    `${eventsPerCall} events and ${Math.round(bytesPerCall)} bytes of database per call.`,
    syncs === null
      ? 'Syncs: not measured, because strace(1) is not installed.'
      : `Syncs: ${rounded(syncs.syncsPerCall, 3)} per call and ${rounded(syncs.unitsPerFlush, 1)} units per flush, in a run of ${syncs.calls} calls of its own at 64 connections below strace.`,
    `Highest resident set of the proxy, loading the policies included: ${Math.round(rssMiBWithBoot)} MiB.`,
    'Sink lag: not measured, because this version has no sinks.',
    'The load comes from this process and the tool is a third: they share the processors with the proxy.',
  ];
}

/** @param {Report} report */
export function jsonLine({ levels, calls, eventsPerCall, bytesPerCall, syncs, rssMiBMax, rssMiBWithBoot }) {
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
    rssMiBMax: rounded(rssMiBMax, 1),
    rssMiBWithBoot: rounded(rssMiBWithBoot, 1),
    sinkLagMsEnd: null,
  });
}
