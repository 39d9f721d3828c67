/** Starts every candidate with its defaults, each as processes of its own, with its data in one folder. */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { PEERS_DIR, versionOf } from './install.mjs';

const START_TIMEOUT_MS = 60_000;

/**
 * @typedef {{ pid: number, ready: any, stop: () => Promise<number | null> }} Service
 * @typedef {object} Candidate
 * @property {string} name
 * @property {string} url what the load is sent to
 * @property {string} [token]
 * @property {number[]} pids whose processes, with their children, do the work
 * @property {string} version
 * @property {Record<string, string>} durability what decides when an answer is durable, as the program itself tells
 * @property {() => Promise<unknown>} stop
 */

/** A port that was free a moment ago; for programs that cannot tell which one they took. */
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/**
 * A file of this folder as a process; it is ready when it prints a line of JSON.
 * @param {string} file
 * @param {Record<string, string>} [env]
 * @returns {Promise<Service>}
 */
export async function startService(file, env = {}) {
  const child = spawn(process.execPath, [join(PEERS_DIR, file)], {
    cwd: PEERS_DIR,
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return started(file, child, (line) => (line.startsWith('{"listening"') ? JSON.parse(line) : undefined));
}

/**
 * @param {string} name
 * @param {import('node:child_process').ChildProcessByStdio<null, import('node:stream').Readable, import('node:stream').Readable>} child
 * @param {(line: string) => any} readyLine
 * @returns {Promise<Service>}
 */
function started(name, child, readyLine) {
  let output = '';
  /** @type {Promise<number | null>} */
  const exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  child.stderr.on('data', (chunk) => (output = `${output}${chunk}`.slice(-4000)));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`${name} did not start in time:\n${output}`));
    }, START_TIMEOUT_MS);
    createInterface({ input: child.stdout }).on('line', (line) => {
      output = `${output}${line}\n`.slice(-4000);
      const ready = readyLine(line);
      if (ready === undefined) return;
      clearTimeout(timer);
      resolve({ pid: /** @type {number} */ (child.pid), ready, stop: () => stopped(child, exited) });
    });
    void exited.then((code) => {
      clearTimeout(timer);
      reject(new Error(`${name} ended with ${code} before it was ready:\n${output}`));
    });
  });
}

/** @param {{ kill: (signal: NodeJS.Signals) => boolean }} child @param {Promise<number | null>} exited */
async function stopped(child, exited) {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const code = await exited;
  clearTimeout(timer);
  return code;
}

/** @param {string} dir @param {string} toolUrl @returns {Promise<Candidate>} */
export async function startDbos(dir, toolUrl) {
  // The folders above the data must let the other user pass.
  chmodSync(dir, 0o711);
  const postgres = await startService('postgres.mjs', {
    PGDIR: join(dir, 'postgres'),
    PGPORT: String(await freePort()),
  });
  const service = await startService('dbos.mjs', { PGURL: postgres.ready.listening, TOOL_URL: toolUrl });
  const { server_version: postgresVersion, ...durability } = postgres.ready.settings;
  return {
    name: 'dbos',
    url: service.ready.listening,
    pids: [postgres.pid, service.pid],
    version: `DBOS ${versionOf('@dbos-inc/dbos-sdk')} on PostgreSQL ${postgresVersion}`,
    durability,
    stop: async () => {
      await service.stop();
      await postgres.stop();
    },
  };
}

/** @param {string} dir @param {string} toolUrl @returns {Promise<Candidate>} */
export async function startRestate(dir, toolUrl) {
  const [port, admin, ingress, node] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const service = await startService('restate.mjs', { PORT: String(port), TOOL_URL: toolUrl });
  const base = join(dir, 'restate');
  mkdirSync(base);
  const binary = join(
    PEERS_DIR,
    `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`,
  );
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    RESTATE_BASE_DIR: base,
    RESTATE_NODE_NAME: 'bench',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_BIND_PORT: String(node),
    RESTATE_ADMIN__BIND_PORT: String(admin),
    RESTATE_INGRESS__BIND_PORT: String(ingress),
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_DISABLE_TELEMETRY: 'true',
  };
  const server = spawn(binary, ['--no-logo'], { cwd: dir, env, stdio: ['ignore', 'ignore', 'ignore'] });
  /** @type {Promise<number | null>} */
  const exited = new Promise((resolve) => server.once('exit', (code) => resolve(code)));
  const stop = async () => {
    await stopped(server, exited);
    await service.stop();
  };
  try {
    await registered(`http://127.0.0.1:${admin}`, service.ready.listening);
  } catch (error) {
    await stop();
    throw error;
  }
  const config = execFileSync(binary, ['--dump-config'], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return {
    name: 'restate',
    url: `http://127.0.0.1:${ingress}/Refund/run`,
    pids: [/** @type {number} */ (server.pid), service.pid],
    version: `Restate server ${versionOf('@restatedev/restate-server')}, SDK ${versionOf('@restatedev/restate-sdk')}`,
    durability: durabilityOf(config),
    stop,
  };
}

/** Tells the server where the service is, as soon as it listens. @param {string} adminUrl @param {string} uri */
async function registered(adminUrl, uri) {
  const giveUpAt = Date.now() + START_TIMEOUT_MS;
  let last = '';
  while (Date.now() < giveUpAt) {
    try {
      const response = await fetch(`${adminUrl}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri }),
      });
      if (response.ok) return;
      last = await response.text();
    } catch (error) {
      last = String(error);
    }
    await pause(200);
  }
  throw new Error(`restate-server does not take the deployment: ${last}`);
}

/** What the server would run with, defaults included. @param {string} toml @returns {Record<string, string>} */
function durabilityOf(toml) {
  /** @type {Record<string, string>} */
  const found = {};
  let section = '';
  for (const line of toml.split('\n')) {
    section = /^\[(.*)\]$/.exec(line)?.[1] ?? section;
    const [, name, value] = /^([\w-]+) = (.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    if (
      /^rocksdb-disable-wal(-fsync)?$|^default-provider$|^default-(replication|num-partitions)$|^writer-batch/.test(
        name,
      )
    ) {
      found[section === '' ? name : `${section}.${name}`] = value;
    }
  }
  return found;
}
