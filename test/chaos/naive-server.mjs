/**
 * What many agents have instead: a service that calls the tool and, when the answer does not come, calls it again. It
 * remembers keys in memory. Nobody would call it careless; under the same deaths and the same tool it pays twice.
 */
import { createServer } from 'node:http';
import { env } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';

const TRIES = 4;
const TIMEOUT_MS = 1_000;

/** @typedef {{ toolCallId: string, status: 'dispatching' | 'completed' | 'failed', key: string }} Call */

/** @type {Map<string, Call>} */
const calls = new Map();

/** @param {Call} call @param {string} body */
async function carryOut(call, body) {
  const headers = { 'content-type': 'application/json', 'idempotency-key': call.key };
  for (let tries = 0; tries < TRIES; tries += 1) {
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const answer = await fetch(`${env['TOOL_URL']}/payments`, { method: 'POST', headers, body, signal });
      await answer.json();
      if (answer.status >= 500) continue;
      call.status = answer.ok ? 'completed' : 'failed';
      return;
    } catch {
      await pause(20);
    }
  }
  call.status = 'failed';
}

const server = createServer((request, response) => {
  const answer = (/** @type {unknown} */ body) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  if (request.method === 'GET') return void answer([...calls.values()]);
  let text = '';
  request.on('data', (chunk) => (text += String(chunk)));
  request.on('end', () => {
    const key = String(request.headers['idempotency-key']);
    const known = calls.get(key);
    if (known !== undefined) return void answer({ ...known, approval: null });
    const { arguments: payment } = /** @type {{ arguments: unknown }} */ (JSON.parse(text));
    /** @type {Call} */
    const call = { toolCallId: `call-${key}-${process.pid}`, status: 'dispatching', key };
    calls.set(key, call);
    void carryOut(call, JSON.stringify(payment)).then(() => answer({ ...call, approval: null }));
  });
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ msg: 'listening', url: `http://127.0.0.1:${port}` })}\n`);
});
