/**
 * Starts what the example consists of: the payment provider and the proxy, as two processes that know each other only
 * by their addresses, and a key pair whose public half the proxy trusts. Used by `npm run dev`, `npm run demo` and the
 * end-to-end tests.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const SIGNING_KEY = new URL('../../dist/identity/signing-key.js', import.meta.url).href;
const START_TIMEOUT_MS = 90_000;

export const ISSUER = 'https://issuer.example.test';
export const AUDIENCE = 'countersign';

/**
 * @typedef {{ sub: string, act?: { sub: string }, roles: string[], groups?: string[], tenant?: string, agent_owner?: string }} Person
 * @typedef {{ url: string, pid: number, output: () => string, exited: Promise<number | null>, kill: (signal: NodeJS.Signals) => Promise<number | null> }} Running
 */

/** Who plays in the example. @type {Readonly<Record<'harness' | 'lena' | 'omar' | 'operator' | 'auditor', Person>>} */
export const PEOPLE = {
  harness: { sub: 'sam', act: { sub: 'support-agent' }, roles: ['harness'] },
  lena: { sub: 'lena', roles: ['approver'], groups: ['support-lead'] },
  omar: { sub: 'omar', roles: ['approver'], groups: ['support-lead'] },
  operator: { sub: 'otto', roles: ['operator'] },
  auditor: { sub: 'ada', roles: ['auditor'] },
};

/**
 * A key pair below `dir` (made on first use) and who signs with it: what `countersign token` does, without a process per
 * token.
 * @param {string} dir
 */
export async function signingKeys(dir) {
  const { TokenSigner, keyPairFiles, newKeyPair } = /** @type {typeof import('../../src/identity/signing-key.js')} */ (
    await import(SIGNING_KEY)
  );
  const { privateFile, jwksFile } = existsSync(keyPairFiles(dir).privateFile)
    ? keyPairFiles(dir)
    : await newKeyPair(dir);
  const signer = await TokenSigner.read(privateFile);
  return {
    jwksFile,
    /** @param {Person} person @param {number} [seconds] */
    token: (person, seconds = 8 * 3600) =>
      signer.sign(
        { tenant: 'acme', ...person },
        {
          issuer: ISSUER,
          audience: AUDIENCE,
          issuedAtSeconds: Math.floor(Date.now() / 1000),
          lifetimeSeconds: seconds,
        },
      ),
  };
}

/**
 * The payment provider with its own SQLite file.
 * @param {{ db: string, port?: number, apiKey: string, args?: string[] }} options
 * @returns {Promise<Running>}
 */
export function startProvider({ db, port = 0, apiKey, args = [] }) {
  return start(
    [join(HERE, 'provider.mjs'), '--port', String(port), '--db', db, '--api-key', apiKey, ...args],
    {},
    (line) => tryJson(line)?.listening,
  );
}

/**
 * The proxy, started as an operator starts it.
 * @param {{ env: Record<string, string>, config?: string, nodeArgs?: string[], command?: string[], program?: string, args?: string[] }} options
 * @returns {Promise<Running>}
 */
export function startProxy({
  env,
  config = join(HERE, 'countersign.yaml'),
  nodeArgs = [],
  command = [],
  program = MAIN,
  args = [],
}) {
  return start(
    [...nodeArgs, program, 'start', ...args],
    { COUNTERSIGN_CONFIG: config, ...env },
    (line) => {
      const entry = tryJson(line);
      return entry?.msg === 'listening' ? entry.url : undefined;
    },
    command,
  );
}

/**
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @param {(line: string) => string | undefined} readyUrl
 * @param {string[]} [wrapper] a program that runs node, such as a tracer
 * @returns {Promise<Running>}
 */
function start(args, env, readyUrl, wrapper = []) {
  const [program, ...rest] = [...wrapper, process.execPath, ...args];
  const child = spawn(/** @type {string} */ (program), rest, {
    env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  /** @type {Promise<number | null>} */
  const exited = new Promise((resolve) => child.once('exit', (code) => resolve(code)));
  child.stderr.on('data', (chunk) => (output += chunk));
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`did not start in time:\n${output}`));
    }, START_TIMEOUT_MS);
    createInterface({ input: child.stdout }).on('line', (line) => {
      output += `${line}\n`;
      const url = readyUrl(line);
      if (url === undefined) return;
      clearTimeout(timer);
      resolve({
        url,
        pid: /** @type {number} */ (child.pid),
        output: () => output,
        exited,
        kill: (signal) => {
          child.kill(signal);
          return exited;
        },
      });
    });
    void exited.then((code) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${code} before it was ready:\n${output}`));
    });
  });
}

/** @param {string} line @returns {any} */
function tryJson(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
