/**
 * The tool of the chaos run, and its oracle; `TOOL_SEED` in the environment. It pays whatever it is asked to pay, as often as it is
 * asked, and counts. How it treats an order is drawn from the seed and the order's name; the first request of an order and
 * all later ones fare alike. It lives in memory, so nobody kills it.
 *
 *   POST /payments {orderId, amountMinor}   with `Idempotency-Key`
 *   GET  /payments?key=K                    {data: [{paymentId, status}]}: what it did for a key
 *   GET  /stats                             {requestsByKey, executionsByKey, executionsByOrder}
 */
import { createServer } from 'node:http';
import { env } from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { Random, seedFor } from './random.mjs';

/** @typedef {{ paymentId: string, status: 'pending' | 'succeeded' }} Payment */
/** @typedef {{ requestsByKey: Record<string, number>, executionsByKey: Record<string, number>, executionsByOrder: Record<string, number> }} ToolStats */

const seed = Number(env['TOOL_SEED'] ?? 1);

/** @type {Map<string, Payment[]>} */
const payments = new Map();
/** @type {ToolStats} */
const stats = { requestsByKey: {}, executionsByKey: {}, executionsByOrder: {} };

/** What happens to an order; weights out of 100. @type {readonly (readonly [number, string])[]} */
const TREATMENTS = [
  [52, 'paid'],
  [8, 'reset before'],
  [12, 'reset after'],
  [4, 'silent before'],
  [4, 'silent after'],
  [5, 'half an answer'],
  [4, 'error after'],
  [5, 'refused'],
  [6, 'paid later'],
];

/** @param {Random} random */
function treatment(random) {
  let left = random.whole(1, 100);
  for (const [weight, name] of TREATMENTS) {
    left -= weight;
    if (left <= 0) return name;
  }
  return 'paid';
}

/** @param {Record<string, number>} counts @param {string} name */
function count(counts, name) {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** @param {string} orderId @param {string} key @param {Payment['status']} status */
function pay(orderId, key, status) {
  count(stats.executionsByKey, key);
  count(stats.executionsByOrder, orderId);
  const payment = { paymentId: `pay_${orderId}_${stats.executionsByOrder[orderId]}`, status };
  payments.set(key, [...(payments.get(key) ?? []), payment]);
  return payment;
}

/** @param {import('node:http').IncomingMessage} request */
async function textOf(request) {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** @typedef {import('node:http').ServerResponse} Response */

/** @param {Response} response @param {number} status @param {unknown} body */
function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

/** @param {import('node:http').IncomingMessage} request @param {Response} response */
async function takePayment(request, response) {
  const { orderId } = /** @type {{ orderId: string }} */ (JSON.parse(await textOf(request)));
  const key = String(request.headers['idempotency-key'] ?? '');
  count(stats.requestsByKey, key);
  const random = new Random(seedFor(seed, orderId));
  const how = treatment(random);
  await pause(how === 'paid' ? random.whole(250, 900) : random.whole(100, 700));
  switch (how) {
    case 'reset before':
      return request.socket.resetAndDestroy();
    case 'silent before':
      return;
    case 'refused':
      return send(response, 422, { error: { code: 'refused' } });
    case 'paid later':
      return payLater(orderId, key, response);
  }
  const payment = pay(orderId, key, 'succeeded');
  switch (how) {
    case 'reset after':
      return request.socket.resetAndDestroy();
    case 'silent after':
      return;
    case 'error after':
      return send(response, 503, { error: { code: 'unavailable' } });
    case 'half an answer':
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '400' });
      response.write('{"paymentId":');
      return void setTimeout(() => response.destroy(), 20);
  }
  send(response, 200, payment);
}

/** @param {string} orderId @param {string} key @param {Response} response */
function payLater(orderId, key, response) {
  const payment = pay(orderId, key, 'pending');
  setTimeout(() => (payment.status = 'succeeded'), 400);
  send(response, 202, payment);
}

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  response.on('error', () => response.destroy());
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://tool');
  if (pathname === '/stats') return send(response, 200, stats);
  if (request.method === 'GET') return send(response, 200, { data: payments.get(searchParams.get('key') ?? '') ?? [] });
  // Who asked may be dead by now.
  takePayment(request, response).catch(() => response.destroy());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  process.stdout.write(`${JSON.stringify({ msg: 'listening', url: `http://127.0.0.1:${port}` })}\n`);
});
