import { createHmac, randomUUID } from 'node:crypto';

import { refundView } from './rows.mjs';
import { typedPrepare } from './statements.mjs';

/** @typedef {import('./rows.mjs').RefundRow} RefundRow */

/**
 * How the callbacks of one refund behave; the switches of the request that made it.
 *
 * @typedef {object} CallbackPlan
 * @property {string | null} url null: the URL configured when the callback goes out
 * @property {number} copies the same callback, same webhook-id, sent so many times at once
 * @property {number} delayMs
 * @property {'before' | 'after' | null} processing also tell `refund.processing`, in order or after the final callback
 * @property {boolean} badSignature
 * @property {boolean} lost
 */

/**
 * @typedef {object} CallbackRow
 * @property {number} seq
 * @property {string} callback_id
 * @property {string} refund_id
 * @property {string | null} url
 * @property {string} body
 * @property {number} bad_signature
 * @property {number} tries
 * @property {number} next_at
 * @property {'due' | 'delivered' | 'given_up'} state
 * @property {string | null} last_result
 */

/** Where callbacks go and how they are signed; what is null is not configured.
 * @typedef {{ url: string | null, secret: string | null }} CallbackTarget */

const triesMax = 5;
const firstRetryAfterMs = 200;
const answerTimeoutMs = 5_000;
const inFlightMax = 64;
const processingLagMs = 150;

/**
 * Signed callbacks, kept in the database until they are delivered (any 2xx), refused for good (410) or given up after
 * five tries. At least once: a callback in flight when the provider is killed goes out again.
 * Standard Webhooks: `webhook-id`, `webhook-timestamp` (seconds) and `webhook-signature: v1,BASE64(HMAC-SHA256(secret,
 * "id.timestamp.body"))`; a secret that begins with `whsec_` is base64 after it, any other is its UTF-8 bytes.
 */
export class Callbacks {
  #sql;
  #stopping;
  /** @type {CallbackTarget} */
  #target;
  /** @type {Set<number>} */
  #inFlight = new Set();

  /**
   * @param {object} parts
   * @param {import('better-sqlite3').Database} parts.database
   * @param {CallbackTarget} parts.target
   * @param {AbortSignal} parts.stopping
   */
  constructor({ database, target, stopping }) {
    this.#target = target;
    this.#stopping = stopping;
    this.#sql = prepareAll(database);
  }

  get target() {
    return this.#target;
  }

  /** @param {CallbackTarget} target without a secret every callback waits, without a URL those that bring none */
  retarget(target) {
    this.#target = target;
  }

  /** @param {RefundRow} refund @param {number} now */
  recordAccepted(refund, now) {
    const plan = planOf(refund);
    if (plan?.processing === 'before') this.#enqueue(refund, 'refund.processing', now, plan);
  }

  /** @param {RefundRow} refund @param {number} now */
  recordSettled(refund, now) {
    const plan = planOf(refund);
    if (plan === null) return;
    this.#enqueue(refund, `refund.${refund.status}`, now, plan);
    if (plan.processing === 'after') {
      this.#enqueue(
        { ...refund, status: 'pending', completed_at: null },
        'refund.processing',
        now + processingLagMs,
        plan,
      );
    }
  }

  /** @param {RefundRow} refund @param {string} type @param {number} now @param {CallbackPlan} plan */
  #enqueue(refund, type, now, plan) {
    if (plan.lost) return;
    const id = `cb_${randomUUID().replaceAll('-', '')}`;
    const body = JSON.stringify({ type, timestamp: new Date(now).toISOString(), data: refundView(refund) });
    for (let copy = 0; copy < plan.copies; copy += 1) {
      this.#sql.insert.run(id, refund.refund_id, plan.url, body, plan.badSignature ? 1 : 0, now + plan.delayMs);
    }
  }

  /** @param {number} limit @returns {CallbackRow[]} newest first */
  latest(limit) {
    return this.#sql.latest.all(limit);
  }

  /** When the next callback that is not in flight is due; null when none is. */
  nextAt() {
    if (this.#inFlight.size >= inFlightMax) return null;
    return this.#waiting()[0]?.next_at ?? null;
  }

  /**
   * Starts every due callback; `afterEach` runs when one has ended, well or not.
   *
   * @param {number} now
   * @param {() => void} afterEach
   */
  startDue(now, afterEach) {
    for (const row of this.#waiting()) {
      if (row.next_at > now || this.#inFlight.size >= inFlightMax) return;
      this.#inFlight.add(row.seq);
      void this.#deliver(row).finally(() => {
        this.#inFlight.delete(row.seq);
        afterEach();
      });
    }
  }

  #waiting() {
    const { url, secret } = this.#target;
    if (secret === null) return [];
    return this.#sql.due.all(url === null ? 0 : 1, inFlightMax + 1).filter((row) => !this.#inFlight.has(row.seq));
  }

  /** @param {CallbackRow} row */
  async #deliver(row) {
    const result = await post(row, this.#target, this.#stopping);
    if (this.#stopping.aborted) return;
    const tries = row.tries + 1;
    const delivered = /^2\d\d$/.test(result);
    const givenUp = result === '410' || tries >= triesMax;
    const nextAt = Date.now() + firstRetryAfterMs * 2 ** row.tries;
    this.#sql.record.run(delivered ? 'delivered' : givenUp ? 'given_up' : 'due', tries, nextAt, result, row.seq);
  }
}

/** @param {RefundRow} refund @returns {CallbackPlan | null} */
function planOf(refund) {
  if (refund.callback_plan === null) return null;
  return /** @type {CallbackPlan} */ (JSON.parse(refund.callback_plan));
}

/** @param {CallbackRow} row @param {CallbackTarget} target @param {AbortSignal} stopping */
async function post(row, target, stopping) {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const secret = row.bad_signature === 1 ? 'not-the-secret' : (target.secret ?? '');
  try {
    const response = await fetch(fillIn(row.url ?? target.url ?? '', row.body), {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        'webhook-id': row.callback_id,
        'webhook-timestamp': timestamp,
        'webhook-signature': `v1,${sign(secret, `${row.callback_id}.${timestamp}.${row.body}`)}`,
      },
      body: row.body,
      signal: AbortSignal.any([stopping, AbortSignal.timeout(answerTimeoutMs)]),
    });
    await response.body?.cancel();
    return String(response.status);
  } catch (error) {
    return error instanceof Error ? error.name : 'error';
  }
}

/** A URL may say where ids of the refund go: `{refundId}`, `{orderId}`, `{idempotencyKey}`.
 * @param {string} url @param {string} body */
function fillIn(url, body) {
  const { data } = /** @type {{ data: Record<string, string | null> }} */ (JSON.parse(body));
  return url.replaceAll(/\{(refundId|orderId|idempotencyKey)\}/g, (_, /** @type {string} */ name) =>
    encodeURIComponent(data[name] ?? ''),
  );
}

/** @param {string} secret @param {string} content */
function sign(secret, content) {
  const key = secret.startsWith('whsec_') ? Buffer.from(secret.slice(6), 'base64') : Buffer.from(secret);
  return createHmac('sha256', key).update(content).digest('base64');
}

/** @param {import('better-sqlite3').Database} db */
function prepareAll(db) {
  const prepare = typedPrepare(db);
  /** @template {unknown[]} P @template R @typedef {import('better-sqlite3').Statement<P, R>} Statement */
  return {
    /** @type {Statement<[string, string, string | null, string, number, number], never>} */
    insert: prepare(
      'INSERT INTO callbacks (callback_id, refund_id, url, body, bad_signature, next_at) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    /** @type {Statement<[0 | 1, number], CallbackRow>} */
    due: prepare(
      `SELECT * FROM callbacks WHERE state = 'due' AND (url IS NOT NULL OR ?) ORDER BY next_at, seq LIMIT ?`,
    ),
    /** @type {Statement<[CallbackRow['state'], number, number, string, number], never>} */
    record: prepare('UPDATE callbacks SET state = ?, tries = ?, next_at = ?, last_result = ? WHERE seq = ?'),
    /** @type {Statement<[number], CallbackRow>} */
    latest: prepare('SELECT * FROM callbacks ORDER BY seq DESC LIMIT ?'),
  };
}
