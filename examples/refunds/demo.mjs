/**
 * `npm run demo`: the refund story, played over HTTP only, against a provider and a proxy started for it. Prints each
 * step for people and ends with a non-zero code when anything differs from what is promised.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PEOPLE, signingKeys, startProvider, startProxy } from './stack.mjs';

const dir = mkdtempSync(join(tmpdir(), 'countersign-demo-'));
const apiKey = 'demo-provider-key-3f9a';
const keys = await signingKeys(join(dir, 'keys'));
const tokens = {
  harness: await keys.token(PEOPLE.harness),
  lena: await keys.token(PEOPLE.lena),
  operator: await keys.token(PEOPLE.operator),
};
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
let proxy = await launchProxy().catch(async (error) => {
  await provider.kill('SIGTERM');
  rmSync(dir, { recursive: true, force: true });
  throw error;
});
let failures = 0;

/** @param {string} text */
const say = (text) => console.log(`\n${text}`);

/** @param {boolean} holds @param {string} text */
function check(holds, text) {
  console.log(`  ${holds ? 'ok  ' : 'DIFFERS'} ${text}`);
  if (!holds) failures += 1;
}

/**
 * @param {string} token @param {string} method @param {string} path @param {object | null} [body] @param {Record<string, string>} [headers]
 * @returns {Promise<{ status: number, headers: Headers, body: any }>}
 */
async function call(token, method, path, body = null, headers = {}) {
  const response = await fetch(`${proxy.url}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === null ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** @param {string} key @param {object} args @param {number} [wait] */
const refund = (key, args, wait = 10) =>
  call(
    tokens.harness,
    'POST',
    '/v1/tool-calls',
    { capability: 'refund.create', arguments: args },
    {
      'idempotency-key': key,
      prefer: `wait=${wait}`,
    },
  );

/**
 * Asks until the call is no longer on the wire.
 * @param {string} toolCallId
 */
async function untilUnknown(toolCallId) {
  for (;;) {
    const now = await call(tokens.harness, 'GET', `/v1/tool-calls/${toolCallId}`);
    if (!['dispatching', 'dispatched'].includes(now.body.status)) return now;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const executions = async () => {
  const response = await fetch(`${provider.url}/_control/stats`);
  return /** @type {{ executions: number }} */ (await response.json()).executions;
};

/** @param {object} faults */
async function inject(faults) {
  const response = await fetch(`${provider.url}/_control/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(faults),
  });
  if (!response.ok) throw new Error(`the provider does not know this fault: ${await response.text()}`);
}

try {
  say('1. A small refund: policy allows it, it runs once.');
  const small = await refund('demo-small', { orderId: 'ord_1001', amountMinor: 1200 });
  check(small.status === 200 && small.body.status === 'completed', `the call is ${small.body.status}`);
  check(small.body.result?.refundId !== undefined, 'the result names the refund of the provider');
  check(small.body.arguments?.currency === 'EUR', 'the default currency was filled in and is shown');
  check((await executions()) === 1, 'the provider executed one refund');

  say('2. The same key again: the same call, no second refund.');
  const again = await refund('demo-small', { amountMinor: 1200, orderId: 'ord_1001' });
  check(again.body.toolCallId === small.body.toolCallId, 'the answer is the same tool call');
  check(again.headers.get('idempotent-replayed') === 'true', 'it says that it is a repeat');
  const other = await refund('demo-small', { orderId: 'ord_1001', amountMinor: 1300 });
  check(other.status === 422 && other.body.code === 'idempotency_conflict', 'the key with another amount is refused');
  check((await executions()) === 1, 'the provider still has one refund');

  say('3. A refund above the cap: denied, nobody is asked.');
  const denied = await refund('demo-denied', { orderId: 'ord_1003', amountMinor: 250000 });
  check(denied.status === 200 && denied.body.status === 'denied', `the call is ${denied.body.status}`);
  check((await executions()) === 1, 'the provider was not called');

  say('4. A refund above 50.00 waits for a support lead; the proxy is killed while it waits.');
  const large = await refund('demo-large', { orderId: 'ord_1002', amountMinor: 7500 }, 0);
  check(large.status === 202 && large.body.waitingFor === 'approval', 'the call waits for an approval');
  await proxy.kill('SIGKILL');
  console.log('       kill -9, restart');
  proxy = await launchProxy();
  const approvalPath = `/v1/approvals/${large.body.approval.approvalId}`;
  const shown = await call(tokens.lena, 'GET', approvalPath);
  check(
    shown.body.status === 'pending' && shown.body.arguments.amountMinor === 7500,
    'after the restart it still waits, unchanged',
  );
  const self = await call(tokens.harness, 'POST', `${approvalPath}/decision`, {
    decision: 'allow',
    digest: shown.body.digest,
  });
  check(self.status === 403, 'the agent cannot approve its own call');
  const decided = await call(tokens.lena, 'POST', `${approvalPath}/decision`, {
    decision: 'allow',
    digest: shown.body.digest,
  });
  check(
    decided.status === 200 && ['granted', 'consumed'].includes(decided.body.status),
    `Lena allows it: ${decided.body.status}`,
  );
  const done = await call(tokens.harness, 'GET', `/v1/tool-calls/${large.body.toolCallId}?wait=10`);
  check(done.body.status === 'completed' && (await executions()) === 2, 'it ran, once');
  const twice = await call(tokens.lena, 'POST', `${approvalPath}/decision`, {
    decision: 'deny',
    digest: shown.body.digest,
  });
  check(twice.status === 409, 'the first decision stands');

  say(
    '5. The provider answers too late: the result is unknown, nothing is sent again, a read-only look-up settles it.',
  );
  await inject({ delayAfterMs: 6000, times: 1 });
  await inject({ probeDelayMs: 3000, times: 1 });
  const sent = await refund('demo-late', { orderId: 'ord_1004', amountMinor: 900 }, 0);
  const late = await untilUnknown(sent.body.toolCallId);
  check(['result_unknown', 'reconciling'].includes(late.body.status), `the call is ${late.body.status}`);
  check(
    late.body.retryAllowed === false && late.body.mayHaveHappened === true,
    'it may have happened, a retry is not allowed',
  );
  const retry = await call(tokens.operator, 'POST', '/v1/control', {
    type: 'retry',
    target: { toolCallId: late.body.toolCallId },
  });
  check(retry.status === 409 && retry.body.code === 'retry_forbidden_result_unknown', 'a retry is refused');
  const settled = await call(tokens.harness, 'GET', `/v1/tool-calls/${late.body.toolCallId}?wait=20`);
  check(settled.body.status === 'completed', `after the look-up the call is ${settled.body.status}`);
  check((await executions()) === 3, 'the provider executed it once');
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
