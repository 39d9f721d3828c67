import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

import { bodyTooLarge, parseObject, readBody, refusal, transmit } from './answers.mjs';
import { spoiledAnswer, spoiledBeforeEffect } from './spoiled-answers.mjs';

/** @typedef {import('./answers.mjs').Answer} Answer */
/** @typedef {import('./answers.mjs').Request} Request */
/** @typedef {import('./fault-switches.mjs').Switches} Switches */
/** @typedef {import('./refund-book.mjs').PendingPlan} PendingPlan */

/**
 * @typedef {object} RefundRequest
 * @property {string | null} key
 * @property {Record<string, unknown> | null} body null unless it is one JSON object
 * @property {boolean} authorized
 * @property {boolean} respondAsync the caller prefers 202 (RFC 7240 `Prefer: respond-async`)
 */

/** The whole life of `POST /v1/refunds`: read, note down, spoil if switched so, carry out, answer. */
export class RefundDesk {
  #book;
  #faults;
  #journal;
  #settlement;
  #stopping;

  /**
   * @param {object} parts
   * @param {import('./refund-book.mjs').RefundBook} parts.book
   * @param {import('./fault-switches.mjs').FaultSwitches} parts.faults
   * @param {import('./request-journal.mjs').RequestJournal} parts.journal
   * @param {import('./settlement.mjs').Settlement} parts.settlement
   * @param {AbortSignal} parts.stopping wakes requests that are being delayed
   */
  constructor({ book, faults, journal, settlement, stopping }) {
    this.#book = book;
    this.#faults = faults;
    this.#journal = journal;
    this.#settlement = settlement;
    this.#stopping = stopping;
  }

  /** @param {Request} request @param {import('./answers.mjs').Response} response @param {boolean} authorized */
  async handle(request, response, authorized) {
    const text = await readBody(request);
    if (text === null) {
      transmit(response, { kind: 'whole', answer: bodyTooLarge() });
      return;
    }
    const key = request.headersDistinct['idempotency-key']?.join(', ') ?? null;
    const body = parseObject(text);
    const entry = this.#journal.record(request, text, key);
    const orderId = typeof body?.['orderId'] === 'string' ? body['orderId'] : null;
    const switches = this.#faults.take('refund', { key, orderId });
    const respondAsync = /(^|[,;\s])respond-async($|[,;\s])/i.test(String(request.headers['prefer'] ?? ''));
    const transmission = await this.#process({ key, body, authorized, respondAsync }, switches, request);
    entry.answer = 'answer' in transmission ? `${transmission.answer.status} ${transmission.kind}` : transmission.kind;
    transmit(response, transmission);
  }

  /**
   * The effect happens even when the caller has hung up meanwhile, as at any real provider.
   *
   * @param {RefundRequest} asked
   * @param {Switches} switches
   * @param {Request} request
   */
  async #process(asked, switches, request) {
    const credential = switches.reflectKey === true ? (request.headers.authorization ?? '') : null;
    if (switches.delayBeforeMs !== undefined) await this.#pause(switches.delayBeforeMs);
    const spoiled = spoiledBeforeEffect(switches, credential);
    if (spoiled !== null) return spoiled;
    const answer = this.#carryOut(asked, switches);
    if (switches.delayAfterMs !== undefined) await this.#pause(switches.delayAfterMs);
    return spoiledAnswer(answer, switches, credential);
  }

  /** @param {number} delayMs */
  async #pause(delayMs) {
    await pause(delayMs, undefined, { signal: this.#stopping });
  }

  /** @param {RefundRequest} asked @param {Switches} switches @returns {Answer} */
  #carryOut({ key, body, authorized, respondAsync }, switches) {
    if (!authorized) return refusal(401, 'unauthorized', 'The API key is missing or wrong.');
    if (key !== null && !/^[\x21-\x7e]{1,255}$/.test(key)) {
      return refusal(422, 'idempotency_key_invalid', 'One Idempotency-Key of 1 to 255 visible ASCII characters.');
    }
    if (body === null) return refusal(400, 'invalid_json', 'The body must be one JSON object.');
    const wrongField = firstWrongField(body);
    if (wrongField !== null) return refusal(422, 'invalid_field', 'Missing, or not a value it takes.', wrongField);
    const callbackUrl = typeof body['callbackUrl'] === 'string' ? body['callbackUrl'] : null;
    const command = {
      orderId: String(body['orderId']),
      amountMinor: Number(body['amountMinor']),
      currency: String(body['currency']),
      reason: typeof body['reason'] === 'string' ? body['reason'] : null,
      idempotencyKey: key,
      fingerprint: fingerprint(body),
      pending: switches.accept202 === true || respondAsync ? pendingPlan(switches, callbackUrl) : null,
    };
    const { answer, created } = this.#book.createRefund(command, Date.now(), this.#settlement.accepted);
    if (created?.status === 'pending') this.#settlement.wake();
    return answer;
  }
}

/** @param {Record<string, unknown>} body @returns {string | null} fields it does not know are ignored */
function firstWrongField({ orderId, amountMinor, currency, reason, note, callbackUrl }) {
  if (typeof orderId !== 'string' || orderId === '' || orderId.length > 64) return 'orderId';
  if (!Number.isSafeInteger(amountMinor) || Number(amountMinor) < 1) return 'amountMinor';
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) return 'currency';
  if (reason !== undefined && (typeof reason !== 'string' || reason.length > 500)) return 'reason';
  if (note !== undefined && typeof note !== 'string') return 'note';
  if (callbackUrl !== undefined && !isHttpUrl(callbackUrl)) return 'callbackUrl';
  return null;
}

/** @param {unknown} value */
export function isHttpUrl(value) {
  return typeof value === 'string' && URL.canParse(value) && /^https?:$/.test(new URL(value).protocol);
}

/** @param {Switches} switches @param {string | null} callbackUrl @returns {PendingPlan} */
function pendingPlan(switches, callbackUrl) {
  return {
    completeAfterMs: switches.completeAfterMs ?? 200,
    completeAs: switches.completeAs ?? 'succeeded',
    callback: {
      url: callbackUrl,
      copies: switches.callbackCopies ?? 1,
      delayMs: switches.callbackDelayMs ?? 0,
      processing: switches.callbackProcessing ?? null,
      badSignature: switches.callbackBadSignature ?? false,
      lost: switches.callbackLost ?? false,
    },
  };
}

/** @param {Record<string, unknown>} body equal for bodies that differ only in key order and white space */
function fingerprint(body) {
  return createHash('sha256').update(canonical(body)).digest('base64');
}

/** @param {unknown} value @returns {string} */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([name, item]) => `${JSON.stringify(name)}:${canonical(item)}`).join(',')}}`;
}
