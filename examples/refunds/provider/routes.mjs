import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { bodyTooLarge, json, parseObject, readBody, refusal, transmit } from './answers.mjs';
import { RuleRefused } from './fault-switches.mjs';
import { isHttpUrl } from './refund-desk.mjs';
import { orderView, refundView } from './rows.mjs';

/** @typedef {import('./answers.mjs').Answer} Answer */
/** @typedef {import('./answers.mjs').Request} Request */
/** @typedef {import('./answers.mjs').Response} Response */

/**
 * @typedef {object} Parts
 * @property {import('./refund-book.mjs').RefundBook} book
 * @property {import('./refund-desk.mjs').RefundDesk} desk
 * @property {import('./fault-switches.mjs').FaultSwitches} faults
 * @property {import('./request-journal.mjs').RequestJournal} journal
 * @property {import('./callbacks.mjs').Callbacks} callbacks
 * @property {import('./settlement.mjs').Settlement} settlement
 * @property {string | null} apiKey
 * @property {AbortSignal} stopping
 */

/** @typedef {{ query: URLSearchParams, id: string, body: Record<string, unknown> | null }} Asked */
/** @typedef {(parts: Parts, asked: Asked) => Answer | Promise<Answer>} Handler */

/** Method, path, handler; the first group of a path is the id. @type {ReadonlyArray<[string, RegExp, Handler]>} */
const routes = [
  ['GET', /^\/v1\/refunds$/, listRefunds],
  ['GET', /^\/v1\/refunds\/([^/]+)$/, showRefund],
  ['GET', /^\/v1\/orders$/, ({ book }, { query }) => json(200, { data: book.orders(limitOf(query)).map(orderView) })],
  ['POST', /^\/v1\/orders$/, createOrder],
  ['GET', /^\/v1\/orders\/([^/]+)$/, showOrder],
  ['GET', /^\/_control\/stats$/, showStats],
  ['GET', /^\/_control\/requests$/, showRequests],
  ['GET', /^\/_control\/faults$/, ({ faults }) => json(200, { data: faults.list() })],
  ['POST', /^\/_control\/faults$/, addFault],
  ['DELETE', /^\/_control\/faults$/, clearFaults],
  ['GET', /^\/_control\/callbacks$/, showCallbacks],
  ['PUT', /^\/_control\/callback$/, setCallback],
  ['DELETE', /^\/_control\/callback$/, clearCallback],
];

/** @param {Parts} parts @returns {(request: Request, response: Response) => Promise<void>} */
export function requestListener(parts) {
  return async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://provider.invalid');
    const authorized = parts.apiKey === null || isBearer(request.headers.authorization, parts.apiKey);
    if (url.searchParams.has('redirected')) parts.journal.recordFollowedRedirect();
    if (request.method === 'POST' && url.pathname === '/v1/refunds') {
      await parts.desk.handle(request, response, authorized);
      return;
    }
    const text = await readBody(request);
    const answer = await dispatch(parts, request.method ?? 'GET', url, { authorized, text });
    transmit(response, { kind: 'whole', answer });
  };
}

/**
 * @param {Parts} parts
 * @param {string} method
 * @param {URL} url
 * @param {{ authorized: boolean, text: string | null }} received
 */
async function dispatch(parts, method, url, { authorized, text }) {
  if (text === null) return bodyTooLarge();
  if (url.pathname.startsWith('/v1/') && !authorized) {
    return refusal(401, 'unauthorized', 'The API key is missing or wrong.');
  }
  const onPath = routes.filter(([, path]) => path.test(url.pathname));
  const route = onPath.find(([routeMethod]) => routeMethod === method);
  if (route === undefined && onPath.length > 0) {
    const answer = refusal(405, 'method_not_allowed', 'This path does not take this method.');
    return { ...answer, headers: { allow: onPath.map(([routeMethod]) => routeMethod).join(', ') } };
  }
  if (route === undefined) return refusal(404, 'not_found', 'There is nothing here.');
  const [, path, handler] = route;
  const id = path.exec(url.pathname)?.[1] ?? '';
  return handler(parts, { query: url.searchParams, id, body: parseObject(text) });
}

/** @param {string | undefined} header @param {string} apiKey */
function isBearer(header, apiKey) {
  const given = createHash('sha256')
    .update(header ?? '')
    .digest();
  return timingSafeEqual(given, createHash('sha256').update(`Bearer ${apiKey}`).digest());
}

/** @param {URLSearchParams} query */
function limitOf(query) {
  const limit = Number(query.get('limit') ?? 100);
  return Number.isInteger(limit) ? Math.min(1_000, Math.max(1, limit)) : 100;
}

/** @param {Parts} parts @param {Asked} asked @returns {Promise<Answer>} */
async function listRefunds({ book, faults, journal, stopping }, { query }) {
  journal.recordLookup();
  const idempotencyKey = query.get('idempotencyKey');
  const orderId = query.get('orderId');
  const switches = faults.take('lookup', { key: idempotencyKey, orderId });
  if (switches.probeDelayMs !== undefined) await pause(switches.probeDelayMs, undefined, { signal: stopping });
  if (switches.probeStatus !== undefined) return refusal(switches.probeStatus, 'provider_error', 'Try again later.');
  if (switches.lyingProbe === true) return json(200, { data: [] });
  const createdBefore = Date.now() - (switches.visibilityDelayMs ?? 0);
  const found = book.refunds({ idempotencyKey, orderId, createdBefore, limit: limitOf(query) });
  return json(200, { data: found.map(refundView) });
}

/** @param {Parts} parts @param {Asked} asked @returns {Promise<Answer>} */
async function showRefund({ book, faults, journal, stopping }, { id }) {
  journal.recordLookup();
  const subject = book.refund(id);
  const key = subject?.idempotency_key ?? null;
  const switches = faults.take('lookup', { key, orderId: subject?.order_id ?? null });
  if (switches.probeDelayMs !== undefined) await pause(switches.probeDelayMs, undefined, { signal: stopping });
  if (switches.probeStatus !== undefined) return refusal(switches.probeStatus, 'provider_error', 'Try again later.');
  const found = book.refund(id);
  const visible = found !== undefined && found.created_at <= Date.now() - (switches.visibilityDelayMs ?? 0);
  if (!visible || switches.lyingProbe === true) return refusal(404, 'refund_not_found', 'There is no such refund.');
  return json(200, refundView(found));
}

/** @type {Handler} */
function showOrder({ book }, { id }) {
  const order = book.order(id);
  return order === undefined ? refusal(404, 'order_not_found', 'There is no such order.') : json(200, orderView(order));
}

/** @type {Handler} */
function createOrder({ book }, { body }) {
  if (body === null) return refusal(400, 'invalid_json', 'The body must be one JSON object.');
  const { orderId = `ord_${randomUUID().slice(0, 13)}`, amountMinor, currency = 'EUR' } = body;
  const { customerName: name = 'Kim Customer', customerEmail: email = 'kim.customer@example.com' } = body;
  if (typeof orderId !== 'string' || !/^[\w-]{1,64}$/.test(orderId)) return wrongField('orderId');
  if (!Number.isSafeInteger(amountMinor) || Number(amountMinor) < 1) return wrongField('amountMinor');
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) return wrongField('currency');
  if (typeof name !== 'string') return wrongField('customerName');
  if (typeof email !== 'string') return wrongField('customerEmail');
  const order = { orderId, amountMinor: Number(amountMinor), currency, name, email };
  if (!book.createOrder(order, Date.now())) return refusal(409, 'order_exists', 'This order id is taken.', 'orderId');
  const created = book.order(orderId);
  return created === undefined ? refusal(500, 'internal_error', 'The order is gone.') : json(201, orderView(created));
}

/** @param {string} field */
function wrongField(field) {
  return refusal(422, 'invalid_field', 'Missing, or not a value it takes.', field);
}

/** @type {Handler} */
function showStats({ book, journal }, { query }) {
  const keyPrefix = query.get('keyPrefix') ?? '';
  const executions = book.executions(keyPrefix);
  const refundsByStatus = book.refundsByStatus();
  return json(200, {
    executions: executions.total,
    executionsByKey: executions.byKey,
    executionsWithoutKey: executions.withoutKey,
    refunds: Object.values(refundsByStatus).reduce((sum, n) => sum + n, 0),
    refundsByStatus,
    ...journal.counts(keyPrefix),
  });
}

/** @type {Handler} */
function showRequests({ journal }, { query }) {
  return json(200, { data: journal.latest(limitOf(query), query.get('keyPrefix') ?? '') });
}

/** @type {Handler} */
function addFault({ faults }, { body }) {
  if (body === null) return refusal(400, 'invalid_json', 'The body must be one JSON object.');
  try {
    return json(201, faults.add(body));
  } catch (error) {
    if (error instanceof RuleRefused) return refusal(400, 'invalid_fault', error.message);
    throw error;
  }
}

/** @type {Handler} */
function clearFaults({ faults }) {
  faults.clear();
  return json(200, { data: [] });
}

/** @type {Handler} */
function showCallbacks({ callbacks }, { query }) {
  const data = callbacks.latest(limitOf(query)).map((row) => ({
    callbackId: row.callback_id,
    refundId: row.refund_id,
    state: row.state,
    tries: row.tries,
    lastResult: row.last_result,
    body: row.body,
  }));
  return json(200, { data });
}

/** @type {Handler} */
function setCallback({ callbacks, settlement }, { body }) {
  const { url, secret = callbacks.target.secret } = body ?? {};
  if (typeof url !== 'string' || !isHttpUrl(url)) return wrongField('url');
  if (typeof secret !== 'string' || secret === '') return wrongField('secret');
  callbacks.retarget({ url, secret });
  settlement.wake();
  return json(200, { url });
}

/** @type {Handler} */
function clearCallback({ callbacks }) {
  callbacks.retarget({ ...callbacks.target, url: null });
  return json(200, { url: null });
}
