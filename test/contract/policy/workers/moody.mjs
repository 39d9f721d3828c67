// A policy thread that does what the principal of the request tells it to. It is made of what the protocol says, not of our code.
import { appendFileSync, readFileSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);

const start = /** @type {{ role: string, candidate: { files: { text: string }[] }, set: { start: string } }} */ (
  workerData
);

const set = {
  revision: 'sha256:moody',
  schemaDigest: 'sha256:schema',
  engineVersion: 'moody/1',
  policies: [],
  schema: { '': { entityTypes: {}, actions: {} } },
  capabilities: {},
  approverGroups: [],
  defaults: { decideWithinMs: 1, executionWindowMs: 1 },
};

/**
 * @param {string} outcome
 * @param {string[]} [engineErrors]
 */
const decision = (outcome, engineErrors = /** @type {string[]} */ ([])) => ({
  outcome,
  reasons: [],
  denyCode: null,
  determining: [],
  obligations: null,
  engineErrors,
  policyRevision: set.revision,
  schemaDigest: set.schemaDigest,
  engineVersion: set.engineVersion,
});

/** @param {string | null} job */
function subOf(job) {
  if (job === null) return null;
  const request = /** @type {{ sub: string }} */ (JSON.parse(job));
  return request.sub;
}

/**
 * @param {(string | null)[]} jobs
 * @param {(string | null)[]} subs the principal of each job
 */
function answer(jobs, subs) {
  if (subs.includes('crash')) process.exit(3);
  if (subs.includes('throw')) throw new Error('secret argument');
  if (subs.includes('hang')) for (;;);
  if (subs.includes('chatter')) return port.postMessage({ kind: 'ready', problems: [] });
  if (subs.includes('short')) return port.postMessage({ kind: 'answers', answers: [], dead: false });
  const answers = jobs.map((job, index) => {
    if (job === null) return true;
    if (subs[index] === 'maybe') return { action: 'maybe' };
    if (subs[index] === 'null') return null;
    if (subs[index] === 'trap') return decision('deny', ['engine_trapped']);
    return decision('allow');
  });
  return port.postMessage({ kind: 'answers', answers, dead: subs.includes('trap') });
}

if (start.role === 'check') check(start.candidate.files[0]?.text);
else serve(start.set.start);

/** @param {string | undefined} text */
function check(text) {
  if (text === 'hang') for (;;);
  if (text === 'exit') process.exit(0);
  if (text === 'throw') throw new Error('secret');
  if (text === 'chatter') port.postMessage({ kind: 'ready', problems: [] });
  else {
    const result = { ok: true, set: { ...set, start: text }, warnings: [], unattended: [] };
    port.postMessage({ kind: 'checked', result });
  }
}

/** @param {string} how */
function serve(how) {
  if (how === 'silent') return void setInterval(() => undefined, 1000);
  if (how === 'dies') process.exit(0);
  // Starts well, then not at all, then well again; a file keeps the count.
  if (how.startsWith('flaky:')) {
    const count = how.slice('flaky:'.length);
    appendFileSync(count, '.');
    if (readFileSync(count, 'utf8').length === 2) process.exit(0);
  }
  if (how === 'throws') throw new Error('secret');
  port.on('message', (/** @type {(string | null)[]} */ jobs) => answer(jobs, jobs.map(subOf)));
  const problems = how === 'refuses' ? [{ code: 'self_test', file: null, policyId: null, message: 'no' }] : [];
  return port.postMessage({ kind: 'ready', problems });
}
