/**
 * `npm run demo:resume`: a harness is killed in the middle of a turn with an approval waiting, and so is the proxy; another
 * harness attaches, nothing runs twice, the conversation goes on. Ends with a non-zero code when anything differs.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PEOPLE, signingKeys, startProvider, startProxy } from './stack.mjs';

const HARNESS = fileURLToPath(new URL('harness.mjs', import.meta.url));
const SESSION = 'demo-session';

const dir = mkdtempSync(join(tmpdir(), 'countersign-demo-'));
const apiKey = 'demo-provider-key-3f9a';
const keys = await signingKeys(join(dir, 'keys'));
const tokens = { harness: await keys.token(PEOPLE.harness), lena: await keys.token(PEOPLE.lena) };
const provider = await startProvider({ db: join(dir, 'provider.sqlite'), apiKey });
const launchProxy = () =>
  startProxy({
    env: {
      PAYMENTS_KEY: apiKey,
      COUNTERSIGN_DATA_DIR: join(dir, 'data'),
      COUNTERSIGN_STORAGE__KEY_FILE: join(dir, 'data', 'keys', 'key-encryption-key.json'),
      COUNTERSIGN_IDENTITY__JWKS_FILE: keys.jwksFile,
      COUNTERSIGN_UPSTREAMS: JSON.stringify({ payments: provider.url }),
      COUNTERSIGN_HTTP__PORT: '0',
    },
  });
let proxy = await launchProxy();
let failures = 0;

/** @param {string} text */
const say = (text) => console.log(`\n${text}`);

/** @param {boolean} holds @param {string} text */
function check(holds, text) {
  console.log(`  ${holds ? 'ok  ' : 'DIFFERS'} ${text}`);
  if (!holds) failures += 1;
}

/** @param {string} instance @param {'begin' | 'go-on'} what */
function startHarness(instance, what) {
  const child = spawn(process.execPath, [HARNESS, proxy.url, tokens.harness, SESSION, instance, what], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  /** @type {any[]} */
  const steps = [];
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => steps.push(JSON.parse(line)));
  const ended = once(child, 'exit');
  return {
    child,
    ended,
    /** @param {string} name @returns {Promise<any>} */
    async step(name) {
      for (;;) {
        const found = steps.find(({ step }) => step === name);
        if (found !== undefined) return found;
        if (child.exitCode !== null) throw new Error(`the harness ended without ${name}: ${JSON.stringify(steps)}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

/** @param {string} token @param {string} method @param {string} path @param {object | null} [body] @returns {Promise<{ status: number, body: any }>} */
async function call(token, method, path, body = null) {
  const response = await fetch(`${proxy.url}/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json() };
}

const executions = async () => {
  const response = await fetch(`${provider.url}/_control/stats`);
  return /** @type {{ executions: number }} */ (await response.json()).executions;
};

try {
  say('1. A harness opens a session, begins a turn and proposes a refund that a person must allow.');
  const first = startHarness('harness-a', 'begin');
  const waiting = await first.step('waiting');
  check((await executions()) === 0, 'nothing has run');

  say('2. The harness is killed in the middle of its turn, and so is the proxy.');
  first.child.kill('SIGKILL');
  await first.ended;
  await proxy.kill('SIGKILL');
  proxy = await launchProxy();

  say('3. Another harness attaches. The question is still there, and nothing has run.');
  const second = startHarness('harness-b', 'go-on');
  const attached = await second.step('attached');
  check(attached.ownerEpoch === waiting.ownerEpoch + 1, `a new owner epoch: ${attached.ownerEpoch}`);
  check(attached.known.toolCallId === waiting.toolCallId, 'it is told of the call that was under way');
  check(attached.known.status === 'proposed' && attached.nextSafe[0] === 'wait_for_approval', 'and that it waits');
  const approval = await call(tokens.lena, 'GET', `/approvals/${waiting.approvalId}`);
  check(approval.body.status === 'pending' && (await executions()) === 0, 'the question is unchanged');

  say('4. A person allows the refund, and the conversation goes on.');
  const { digest } = approval.body;
  await call(tokens.lena, 'POST', `/approvals/${waiting.approvalId}/decision`, { decision: 'allow', digest });
  const done = await second.step('done');
  check(done.roles.join() === 'user,assistant,tool,assistant', `the conversation is whole: ${done.roles.join(', ')}`);
  check(done.answer === 'completed' && done.run === 'completed', 'the turn has its answer, and the run is completed');
  check((await executions()) === 1, 'the provider executed one refund');

  say('5. The first harness, were it still alive, could write nothing more.');
  const late = await call(tokens.harness, 'POST', `/sessions/${SESSION}/events`, {
    ownerEpoch: waiting.ownerEpoch,
    expectedSeq: 0,
    events: [{ type: 'user.message', payload: { messageId: 'm9', contents: [{ type: 'text', text: 'late' }] } }],
  });
  check(late.status === 409 && late.body.code === 'owner_epoch_stale', `refused: ${late.body.code}`);
  console.log(failures === 0 ? '\nEverything went as promised.' : `\n${failures} checks differ.`);
} catch (error) {
  failures += 1;
  console.error(error, `\n${proxy.output()}`);
} finally {
  await proxy.kill('SIGTERM').catch(() => {});
  await provider.kill('SIGTERM');
  rmSync(dir, { recursive: true, force: true });
}
process.exit(failures === 0 ? 0 : 1);
