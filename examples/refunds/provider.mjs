/**
 * A payment provider to try Countersign against: a process of its own with a database of its own, which moves (pretend)
 * money, remembers idempotency keys for a while, sends signed callbacks, and fails in every way a provider can fail.
 * It also counts what it really did, so that demos and tests need not believe anybody else's account.
 *
 *   node examples/refunds/provider.mjs --port 0 --db FILE [--api-key KEY] [--key-retention-ms N]
 *        [--callback-url URL] [--callback-secret SECRET]
 *
 * It listens on 127.0.0.1 only and prints one line when it is ready: {"listening":"http://127.0.0.1:PORT"}.
 * SIGTERM or SIGINT ends it in order. The key may come from PROVIDER_API_KEY, which does not show in a process list.
 *
 * The API (with `Authorization: Bearer KEY` when a key is set; errors are `{error: {code, message, field?}}`):
 *   POST /v1/refunds                {orderId, amountMinor, currency, reason?, note?, callbackUrl?} -> 201; one refund per
 *                                   Idempotency-Key until the key expires (24 h), replays carry Idempotent-Replayed: true;
 *                                   another body under the same key is 409. Without a key every request is a refund.
 *                                   Only refunds are remembered by key, refusals are not. `Prefer: respond-async`: 202.
 *   GET  /v1/refunds/ID             GET /v1/refunds?idempotencyKey=K | ?orderId=ID -> {data: [...]}
 *   GET  /v1/orders, /v1/orders/ID  POST /v1/orders {orderId?, amountMinor, currency?, customerName?, customerEmail?}
 *   ord_1001 to ord_1010 exist from the start (EUR, amounts in cents).
 *
 * What it did, and what it is told to do wrong (no key needed; not part of any provider's API):
 *   GET    /_control/stats          {executions, executionsByKey, refundsByStatus, requests, ...}; ?keyPrefix= narrows.
 *                                   An execution is a refund whose money has moved: at once, or when a 202 completes.
 *   GET    /_control/requests       refund requests as received, newest first, the credential as a digest; ?limit=
 *   GET    /_control/callbacks      callbacks and what became of them; PUT /_control/callback {url, secret?} sets where they
 *                                   go ({refundId}, {orderId}, {idempotencyKey} are filled in), DELETE unsets it
 *   POST   /_control/faults         one rule: switches, plus `times` (how many requests; without it, all) and `keyPrefix`
 *                                   or `orderId`. The oldest matching rule acts. GET lists, DELETE removes all.
 *
 * Switches for refund requests; whatever does not say "before" acts after the effect has been committed:
 *   delayBeforeMs delayAfterMs               wait before the effect, after it
 *   resetBeforeEffect resetAfterEffect       TCP reset, not one byte of an answer
 *   statusBeforeEffect statusAfterEffect     an error status: 503, 500, ...; rejectWith: a 4xx refusal without effect
 *   redirect hangForever                     'beforeEffect' (or true) | 'afterEffect'; redirectStatus, else 302
 *   halfBody invalidJson wrongShape          an answer cut short, one that is not JSON, one that is not a refund
 *   bodyBytes slowBodyMs                     an answer of so many bytes, one that trickles
 *   reflectKey                               the answer repeats the received Authorization header
 *   accept202 completeAfterMs completeAs     answer 202 and end later as 'succeeded', 'failed' or 'never'
 *   callbackCopies callbackDelayMs callbackBadSignature callbackLost
 *   callbackProcessing                       also call back `refund.processing`, 'before' or 'after' the final one
 * Switches for lookups (GET /v1/refunds...): lyingProbe, probeDelayMs, probeStatus, visibilityDelayMs (younger refunds
 * are not shown yet). Switch for connections: resetConnection, before a byte is read (only `times` narrows it).
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';

import { refusal, transmit } from './provider/answers.mjs';
import { Callbacks } from './provider/callbacks.mjs';
import { FaultSwitches } from './provider/fault-switches.mjs';
import { RefundBook } from './provider/refund-book.mjs';
import { isHttpUrl, RefundDesk } from './provider/refund-desk.mjs';
import { RequestJournal } from './provider/request-journal.mjs';
import { requestListener } from './provider/routes.mjs';
import { Settlement } from './provider/settlement.mjs';

const usage =
  'node provider.mjs --db FILE [--port N] [--api-key KEY] [--key-retention-ms N] [--callback-url URL] [--callback-secret S]';
const oneDayMs = 86_400_000;
const drainMs = 1_000;

/** @param {string} problem @returns {never} */
function refuseToStart(problem) {
  process.stderr.write(`${problem}\n${usage}\n`);
  process.exit(2);
}

/** @param {string} name @param {string} text @param {number} max */
function wholeNumber(name, text, max) {
  const value = Number(text);
  return /^\d+$/.test(text) && value <= max ? value : refuseToStart(`--${name} takes a whole number up to ${max}.`);
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        port: { type: 'string', default: '0' },
        db: { type: 'string' },
        'api-key': { type: 'string' },
        'key-retention-ms': { type: 'string', default: String(oneDayMs) },
        'callback-url': { type: 'string' },
        'callback-secret': { type: 'string' },
      },
    }).values;
  } catch (error) {
    return refuseToStart(error instanceof Error ? error.message : 'Unreadable arguments.');
  }
}

function readSettings() {
  const values = readArguments();
  const { db, 'callback-url': url = null, 'callback-secret': secret = null } = values;
  if (db === undefined || db === '') return refuseToStart('--db FILE is needed.');
  if (url !== null && (!isHttpUrl(url) || secret === null)) {
    return refuseToStart('--callback-url takes an http(s) URL and needs --callback-secret.');
  }
  return {
    port: wholeNumber('port', values.port, 65_535),
    db,
    apiKey: values['api-key'] ?? process.env['PROVIDER_API_KEY'] ?? null,
    keyRetentionMs: wholeNumber('key-retention-ms', values['key-retention-ms'], Number.MAX_SAFE_INTEGER),
    callbackTarget: { url, secret },
  };
}

const settings = readSettings();
const stop = new AbortController();
const book = new RefundBook(settings.db, { keyRetentionMs: settings.keyRetentionMs, now: Date.now() });
const callbacks = new Callbacks({
  database: book.database,
  target: settings.callbackTarget,
  stopping: stop.signal,
});
const settlement = new Settlement(book, callbacks);
const faults = new FaultSwitches();
const journal = new RequestJournal();
const desk = new RefundDesk({ book, faults, journal, settlement, stopping: stop.signal });
const { apiKey } = settings;
const listener = requestListener({
  book,
  desk,
  faults,
  journal,
  callbacks,
  settlement,
  apiKey,
  stopping: stop.signal,
});

const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
  response.on('error', () => response.destroy());
  listener(request, response).catch((/** @type {unknown} */ error) => {
    // The caller hung up, or the provider is stopping: there is nobody to answer.
    if (response.destroyed || stop.signal.aborted) {
      response.destroy();
      return;
    }
    process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
    transmit(response, { kind: 'whole', answer: refusal(500, 'internal_error', 'Something went wrong on our side.') });
  });
});
server.on('connection', (socket) => {
  if (faults.take('connection', { key: null, orderId: null }).resetConnection === true) socket.resetAndDestroy();
});
server.on('error', (error) => refuseToStart(error.message));
server.listen(settings.port, '127.0.0.1', () => {
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : settings.port;
  process.stdout.write(`${JSON.stringify({ listening: `http://127.0.0.1:${port}` })}\n`);
  settlement.wake();
});

/** Refunds in the middle of a delay are dropped without effect; answers on the wire get a moment to leave. */
function shutDown() {
  if (stop.signal.aborted) return;
  settlement.stop();
  stop.abort();
  server.close(() => book.close());
  setTimeout(() => server.closeAllConnections(), drainMs).unref();
}
process.on('SIGTERM', shutDown);
process.on('SIGINT', shutDown);
