/** The product as the target of a chaos run: one data directory, one process at a time. */
import { cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { PEOPLE, signingKeys } from '../../examples/refunds/stack.mjs';
import { brokenRecords } from '../support/broken-records.mjs';
import { launch } from './programs.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CAN_CRASH = new URL('../fault/support/crash-when-told.mjs', import.meta.url).href;

/** The policy engine is compiled once and quickly: most of these processes live for a second. */
const NODE_ARGS = ['--liftoff-only', '--wasm-lazy-compilation', '--import', CAN_CRASH];

/** Where a running process dies by itself; the last one only matters while it starts. */
export const POINTS = [
  'storage.unit-written',
  'storage.before-commit',
  'storage.after-commit',
  'egress.before-write',
  'egress.written',
  'proxy.answer-unrecorded',
];
export const POINT_OF_RECOVERY = 'proxy.sweep-settled';

/** @typedef {{ toolCallId: string, status: string, key: string }} CallRecord */

/** @param {string} dir @param {string} toolUrl */
export async function proxyTarget(dir, toolUrl) {
  const dataDir = join(dir, 'data');
  const planFile = join(dir, 'crash-plan.json');
  mkdirSync(join(dir, 'keys'), { recursive: true });
  cpSync(join(HERE, 'capabilities'), join(dir, 'capabilities'), { recursive: true });
  cpSync(join(HERE, 'policies'), join(dir, 'policies'), { recursive: true });
  writeFileSync(planFile, '');
  const keys = await signingKeys(join(dir, 'keys'));
  const env = {
    PAYMENTS_KEY: 'not-used-here',
    CRASH_PLAN_FILE: planFile,
    COUNTERSIGN_CONFIG: join(ROOT, 'examples/refunds/countersign.yaml'),
    COUNTERSIGN_DATA_DIR: dataDir,
    COUNTERSIGN_STORAGE__KEY_FILE: join(dir, 'keys', 'key-encryption-key.json'),
    COUNTERSIGN_IDENTITY__JWKS_FILE: keys.jwksFile,
    COUNTERSIGN_CAPABILITIES__DIR: join(dir, 'capabilities'),
    COUNTERSIGN_POLICY__DIR: join(dir, 'policies'),
    COUNTERSIGN_UPSTREAMS: JSON.stringify({ tool: toolUrl }),
    COUNTERSIGN_HTTP__PORT: '0',
    COUNTERSIGN_EXECUTION__MAX_IN_FLIGHT: '256',
    COUNTERSIGN_EXECUTION__SWEEP_INTERVAL_MS: '500',
    COUNTERSIGN_EXECUTION__BREAKER_FAILURES_MAX: '1000000',
    COUNTERSIGN_LOG__LEVEL: 'info',
  };
  let plans = 0;
  return {
    launch: () => launch([...NODE_ARGS, join(ROOT, 'dist/main.js'), 'start'], env),
    /** Whose word it takes: an agent's proposal, a support lead's consent. */
    tokens: { harness: await keys.token(PEOPLE.harness), lead: await keys.token(PEOPLE.lena) },
    /** @param {{ point: string, count: number } | null} plan null: nowhere */
    crashAt: (plan) => {
      plans += 1;
      writeFileSync(`${planFile}.new`, plan === null ? '' : JSON.stringify({ ...plan, id: plans }));
      renameSync(`${planFile}.new`, planFile);
    },
    records: async () => callRecords(dataDir),
    /** Of a proxy that is dead: the calls it had taken on and not ended. */
    inFlight: () => (existsSync(join(dataDir, 'countersign.sqlite')) ? look(dataDir, inFlight) : []),
    brokenRecords: () => look(dataDir, brokenRecords),
  };
}

/** @typedef {Awaited<ReturnType<typeof proxyTarget>>} Target */

/** @param {string} dataDir @returns {CallRecord[]} */
function callRecords(dataDir) {
  const sql = 'SELECT tool_call_id AS toolCallId, status, downstream_key AS key FROM tool_calls';
  return look(dataDir, (database) => /** @type {CallRecord[]} */ (database.prepare(sql).all()));
}

/** @param {Database.Database} database @returns {string[]} */
function inFlight(database) {
  const sql = `SELECT tool_call_id FROM tool_calls WHERE status IN ('authorized', 'dispatching', 'dispatched', 'accepted')`;
  return /** @type {string[]} */ (database.prepare(sql).pluck().all());
}

/** @template T @param {string} dataDir @param {(database: Database.Database) => T} at @returns {T} */
function look(dataDir, at) {
  const database = new Database(join(dataDir, 'countersign.sqlite'), { readonly: true });
  try {
    return at(database);
  } finally {
    database.close();
  }
}
