/**
 * `npm run canary:heap`: how long a credential stays readable in the memory of the process. Starts the refund example with a credential
 * that is found nowhere else, lets one call use it, waits (`--after SECONDS`, 60), has the proxy write a heap snapshot and counts the strings that
 * hold it. Nothing is judged: a process that uses a secret has it. The last line is `{"heap":{"afterSeconds","held","bytes"}}`.
 */
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { PEOPLE, signingKeys, startProvider, startProxy } from '../examples/refunds/stack.mjs';

const { values } = parseArgs({ options: { after: { type: 'string', default: '60' } } });
const afterSeconds = Number(values.after);
const dir = mkdtempSync(join(tmpdir(), 'countersign-heap-'));
const secret = 'canary-credential-Zq81LmT4v';
const keys = await signingKeys(join(dir, 'keys'));
const provider = await startProvider({ db: join(dir, 'provider.sqlite'), apiKey: secret });
const proxy = await startProxy({
  nodeArgs: ['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${dir}`],
  env: {
    PAYMENTS_KEY: secret,
    COUNTERSIGN_DATA_DIR: join(dir, 'data'),
    COUNTERSIGN_STORAGE__KEY_FILE: join(dir, 'data', 'keys', 'key-encryption-key.json'),
    COUNTERSIGN_IDENTITY__JWKS_FILE: keys.jwksFile,
    COUNTERSIGN_UPSTREAMS: JSON.stringify({ payments: provider.url }),
    COUNTERSIGN_HTTP__PORT: '0',
  },
});
try {
  const answer = await fetch(`${proxy.url}/v1/tool-calls`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${await keys.token(PEOPLE.harness)}`,
      'content-type': 'application/json',
      'idempotency-key': 'heap-1',
      prefer: 'wait=20',
    },
    body: JSON.stringify({ capability: 'refund.create', arguments: { orderId: 'ord_1001', amountMinor: 100 } }),
  });
  const { status } = /** @type {{ status: string }} */ (await answer.json());
  console.log(`the call that used the credential: ${status}`);
  await pause(afterSeconds * 1000);
  process.kill(proxy.pid, 'SIGUSR2');
  const text = await snapshot();
  const held = text.split(secret).length - 1;
  console.log(JSON.stringify({ heap: { afterSeconds, held, bytes: text.length } }));
} finally {
  await proxy.kill('SIGTERM');
  await provider.kill('SIGTERM');
  rmSync(dir, { recursive: true, force: true });
}

/** The snapshot, once it is written to its end. */
async function snapshot() {
  for (;;) {
    const file = readdirSync(dir).find((name) => name.endsWith('.heapsnapshot'));
    const text = file === undefined ? '' : readFileSync(join(dir, file), 'latin1');
    if (text.trimEnd().endsWith('}')) return text;
    await pause(500);
  }
}
