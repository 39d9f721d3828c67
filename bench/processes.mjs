/** Starts the tool and the proxy of the bench, each as a process of its own. */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PEOPLE, signingKeys, startProxy } from '../examples/refunds/stack.mjs';
import { treeOf } from './process-figures.mjs';
import { writeDefinitions } from './definitions.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const PROBE = new URL('./event-loop-probe.mjs', import.meta.url).href;
const FIGURES_TIMEOUT_MS = 10_000;

/** Arguments for node that let `eventLoopFigures` ask the proxy. */
export const WITH_PROBE = ['--import', PROBE];

export const TOOL_KEY = 'bench-tool-key';

/** What this program has started and has not seen end. @type {Set<() => unknown>} */
const killers = new Set();

/** Ends at once what still runs; for when this program is interrupted or fails. */
export function killAll() {
  for (const kill of killers) kill();
}

/** @typedef {{ executions: number, keys: number, repeatedKeys: number }} ToolCounts */
/** @typedef {{ received: number, at: Record<string, string> }} Arrivals */
/** @typedef {{ sequence: number, lagP99Ms: number, lagMaxMs: number, utilization: number }} EventLoopFigures */

export async function startTool() {
  const child = spawn(process.execPath, [join(HERE, 'tool.mjs')], { stdio: ['ignore', 'pipe', 'inherit'] });
  const kill = () => child.kill('SIGKILL');
  killers.add(kill);
  child.once('exit', () => killers.delete(kill));
  /** @type {string} */
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line).listening));
    child.once('exit', (code) => reject(new Error(`the tool ended with ${code}`)));
  });
  return {
    url,
    counts: async () => /** @type {ToolCounts} */ (await (await fetch(`${url}/counts`)).json()),
    forget: async () => void (await fetch(`${url}/counts`, { method: 'DELETE' })),
    /** @param {number} ms */
    delay: async (ms) => void (await fetch(`${url}/delay?ms=${ms}`, { method: 'PUT' })),
    watchArrivals: async () => void (await fetch(`${url}/arrivals`, { method: 'PUT' })),
    arrivals: async () => /** @type {Arrivals} */ (await (await fetch(`${url}/arrivals`)).json()),
    stop: () => void child.kill('SIGTERM'),
  };
}

/** @typedef {Awaited<ReturnType<typeof startTool>>} Tool */

/**
 * One installation in a folder: definitions, keys, data. It can be started several times, one after the other.
 * @param {string} dir
 * @param {string} toolUrl
 * @param {{ from?: string, others?: number | undefined, env?: Record<string, string> }} [more] what differs from the ordinary bench
 */
export async function installation(dir, toolUrl, more = {}) {
  const definitions = writeDefinitions(dir, more);
  const keys = await signingKeys(join(dir, 'keys'));
  const dataDir = join(dir, 'data');
  const figuresFile = join(dir, 'event-loop.json');
  const env = {
    BENCH_TOOL_KEY: TOOL_KEY,
    BENCH_EVENT_LOOP_FILE: figuresFile,
    COUNTERSIGN_DATA_DIR: dataDir,
    COUNTERSIGN_STORAGE__KEY_FILE: join(dataDir, 'keys', 'key-encryption-key.json'),
    COUNTERSIGN_IDENTITY__JWKS_FILE: keys.jwksFile,
    COUNTERSIGN_CAPABILITIES__DIR: definitions.capabilitiesDir,
    COUNTERSIGN_POLICY__DIR: definitions.policiesDir,
    COUNTERSIGN_UPSTREAMS: JSON.stringify({ bank: toolUrl }),
    COUNTERSIGN_HTTP__PORT: '0',
    ...more.env,
  };
  const database = join(dataDir, 'countersign.sqlite');
  return {
    definitions,
    database,
    figuresFile,
    dataDir,
    token: await keys.token(PEOPLE.harness),
    /** @param {import('../examples/refunds/stack.mjs').Person} person */
    tokenOf: (person) => keys.token(person),
    /** How many events the store of a running proxy has. @param {string} url */
    eventsOf: async (url) => {
      const authorization = `Bearer ${await keys.token(PEOPLE.auditor)}`;
      const response = await fetch(`${url}/v1/events?limit=1`, { headers: { authorization } });
      if (!response.ok) throw new Error(`the events answered ${response.status}: ${await response.text()}`);
      return /** @type {{ head: number }} */ (await response.json()).head + 1;
    },
    databaseBytes: () => sizeOf(database) + sizeOf(`${database}-wal`),
    /** @param {{ nodeArgs?: string[], command?: string[] }} [options] */
    start: async ({ nodeArgs = WITH_PROBE, command = [] } = {}) => {
      const proxy = await startProxy({ env, config: join(HERE, 'countersign.yaml'), nodeArgs, command });
      const kill = () => treeOf(proxy.pid).forEach((pid) => process.kill(pid, 'SIGKILL'));
      killers.add(kill);
      void proxy.exited.then(() => killers.delete(kill));
      return proxy;
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof installation>>} Installation */

/**
 * What the event loop of the proxy did since this was asked last.
 * @param {number} pid
 * @param {string} file
 * @returns {Promise<EventLoopFigures>}
 */
export async function eventLoopFigures(pid, file) {
  rmSync(file, { force: true });
  process.kill(pid, 'SIGUSR2');
  const giveUpAt = Date.now() + FIGURES_TIMEOUT_MS;
  while (sizeOf(file) === 0) {
    if (Date.now() > giveUpAt) throw new Error('the proxy does not tell about its event loop');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** @param {string} file */
const sizeOf = (file) => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
