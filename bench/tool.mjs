/**
 * The tool of the bench, in a process of its own: it does next to nothing, so that it is not what is measured. It counts
 * how often each Idempotency-Key was carried out and can be asked about a key, which is all that a probe needs.
 *
 *   POST /v1/transfers                      carry out; needs Authorization and Idempotency-Key
 *   GET  /v1/transfers?idempotencyKey=KEY   look up
 *   GET  /counts                            {executions, keys, repeatedKeys}
 *   DELETE /counts                          forget everything
 *   PUT  /delay?ms=N                        from now on wait so long between receiving and carrying out, whether the caller is still there or not
 *   GET  /arrivals                          {received, at}: how many requests came, and when each of them, by its reference, in nanoseconds of
 *                                           the machine's monotonic clock; empty unless it was asked for with PUT /arrivals
 */
import { createServer } from 'node:http';

/** How often each key was carried out. @type {Map<string, number>} */
const executionsByKey = new Map();
let executions = 0;
let repeatedKeys = 0;
let received = 0;
let delayMs = 0;
/** @type {Map<string, string> | null} */
let arrivals = null;

const JSON_TYPE = { 'content-type': 'application/json' };

/** @param {import('node:http').ServerResponse} response @param {number} status @param {string} text */
function answer(response, status, text) {
  response.writeHead(status, { ...JSON_TYPE, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** @param {string} key */
function carryOut(key) {
  const times = (executionsByKey.get(key) ?? 0) + 1;
  executionsByKey.set(key, times);
  executions += 1;
  if (times === 2) repeatedKeys += 1;
  return transfer(key);
}

/** @param {string} key */
const transfer = (key) => JSON.stringify({ transferId: `tr_${key}`, status: 'succeeded' });

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
function receive(request, response) {
  const key = request.headers['idempotency-key'];
  if (request.headers.authorization === undefined) return answer(response, 401, '{"error":"no credential"}');
  if (typeof key !== 'string') return answer(response, 400, '{"error":"no Idempotency-Key"}');
  let text = '';
  request.setEncoding('utf8');
  request.on('data', (chunk) => (text += chunk));
  request.on('end', () => {
    const { amountMinor, reference } = /** @type {{ amountMinor?: unknown, reference?: unknown }} */ (JSON.parse(text));
    if (typeof amountMinor !== 'number') return answer(response, 400, '{"error":"no amountMinor"}');
    received += 1;
    arrivals?.set(String(reference), String(process.hrtime.bigint()));
    if (delayMs === 0) return answer(response, 200, carryOut(key));
    setTimeout(() => answer(response, 200, carryOut(key)), delayMs);
  });
}

/** @param {string} url */
function lookUp(url) {
  const key = new URL(url, 'http://tool').searchParams.get('idempotencyKey') ?? '';
  return `{"data":[${executionsByKey.has(key) ? transfer(key) : ''}]}`;
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { method, url = '/' } = request;
  if (method === 'POST' && url === '/v1/transfers') return receive(request, response);
  if (method === 'GET' && url.startsWith('/v1/transfers?')) return answer(response, 200, lookUp(url));
  if (method === 'GET' && url === '/arrivals') {
    return answer(response, 200, JSON.stringify({ received, at: Object.fromEntries(arrivals ?? []) }));
  }
  if (method === 'PUT' && url === '/arrivals') {
    arrivals = new Map();
    return answer(response, 200, '{}');
  }
  if (method === 'PUT' && url.startsWith('/delay?ms=')) {
    delayMs = Number(url.slice('/delay?ms='.length));
    return answer(response, 200, JSON.stringify({ delayMs }));
  }
  if (url !== '/counts') return answer(response, 404, '{"error":"not found"}');
  if (method === 'DELETE') {
    executionsByKey.clear();
    executions = 0;
    repeatedKeys = 0;
    received = 0;
    arrivals = null;
  }
  return answer(response, 200, JSON.stringify({ executions, keys: executionsByKey.size, repeatedKeys }));
});
server.listen(0, '127.0.0.1', () => {
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());
  process.stdout.write(`${JSON.stringify({ listening: `http://127.0.0.1:${address.port}` })}\n`);
});
process.on('SIGTERM', () => process.exit(0));
