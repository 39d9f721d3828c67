/**
 * Starts what the example consists of: the payment provider and the proxy, as two processes that know each other only
 * by their addresses, and a key pair whose public half the proxy trusts. Used by `npm run dev`, `npm run demo` and the
 * end-to-end tests.
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { SignJWT, exportJWK, generateKeyPair, importJWK } from 'jose';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
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
 * A signing key below `dir` (made on first use, mode 0600) and the public key set beside it.
 * @param {string} dir
 */
export async function signingKeys(dir) {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const privateFile = join(dir, 'private-key.json');
  const jwksFile = join(dir, 'public-keys.json');
  if (!existsSync(privateFile)) {
    const pair = await generateKeyPair('Ed25519', { extractable: true });
    const kid = randomBytes(8).toString('hex');
    const publicKey = { ...(await exportJWK(pair.publicKey)), kid, alg: 'Ed25519', use: 'sig' };
    writeFileSync(privateFile, JSON.stringify({ ...(await exportJWK(pair.privateKey)), kid }), { mode: 0o600 });
    writeFileSync(jwksFile, JSON.stringify({ keys: [publicKey] }, null, 2));
  }
  const jwk = JSON.parse(readFileSync(privateFile, 'utf8'));
  const key = await importJWK(jwk, 'Ed25519');
  return {
    jwksFile,
    /** @param {Person} person @param {number} [seconds] */
    token: (person, seconds = 8 * 3600) => {
      const { sub, ...claims } = person;
      return new SignJWT({ tenant: 'acme', ...claims })
        .setProtectedHeader({ alg: 'Ed25519', kid: jwk.kid, typ: 'at+jwt' })
        .setSubject(sub)
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setIssuedAt()
        .setExpirationTime(`${seconds}s`)
        .sign(key);
    },
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
 * @param {{ env: Record<string, string>, config?: string, nodeArgs?: string[], command?: string[] }} options
 * @returns {Promise<Running>}
 */
export function startProxy({ env, config = join(HERE, 'countersign.yaml'), nodeArgs = [], command = [] }) {
  return start(
    [...nodeArgs, MAIN, 'start'],
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
