import { randomBytes } from 'node:crypto';

import { json, refusal } from './answers.mjs';
import { refundView } from './rows.mjs';
import { openDatabase } from './schema.mjs';
import { prepareAll } from './statements.mjs';

/** @typedef {import('./rows.mjs').RefundRow} RefundRow */

/**
 * What a refund that was answered with 202 will do later.
 *
 * @typedef {object} PendingPlan
 * @property {number} completeAfterMs
 * @property {'succeeded' | 'failed' | 'never'} completeAs
 * @property {import('./callbacks.mjs').CallbackPlan} callback
 */

/**
 * @typedef {object} RefundCommand
 * @property {string} orderId
 * @property {number} amountMinor
 * @property {string} currency
 * @property {string | null} reason
 * @property {string | null} idempotencyKey
 * @property {string} fingerprint digest of the canonical request body: decides whether a repeated key is a repeat
 * @property {PendingPlan | null} pending null: the money moves before the answer
 */

/** @typedef {import('./answers.mjs').Answer} Answer */

/**
 * Orders, refunds and idempotency keys. Every method is one SQLite transaction, and SQLite is called synchronously, so
 * two requests with one key can never both find the key free.
 */
export class RefundBook {
  #db;
  #keyRetentionMs;
  #sql;

  /**
   * @param {string} file
   * @param {{ keyRetentionMs: number, now: number }} options
   */
  constructor(file, { keyRetentionMs, now }) {
    this.#db = openDatabase(file, now);
    this.#keyRetentionMs = keyRetentionMs;
    this.#sql = prepareAll(this.#db);
    this.createRefund = this.#db.transaction(this.#createRefund.bind(this)).immediate;
    this.settle = this.#db.transaction(this.#settle.bind(this)).immediate;
  }

  get database() {
    return this.#db;
  }

  close() {
    this.#db.close();
  }

  /**
   * @param {RefundCommand} command
   * @param {number} now
   * @param {(created: RefundRow) => void} alongside runs in the same transaction
   * @returns {{ answer: Answer, created: RefundRow | null }} `created` is null for a replay and for a refusal
   */
  #createRefund(command, now, alongside) {
    const kept = command.idempotencyKey === null ? undefined : this.#sql.findKey.get(command.idempotencyKey);
    if (kept !== undefined && kept.created_at + this.#keyRetentionMs > now) {
      if (kept.fingerprint !== command.fingerprint) {
        return refused(409, 'idempotency_key_reuse', 'This Idempotency-Key was used with another request body.');
      }
      const answer = { status: kept.status, text: kept.answer, headers: { 'idempotent-replayed': 'true' } };
      return { answer, created: null };
    }
    const order = this.#sql.findOrder.get(command.orderId);
    if (order === undefined) return refused(404, 'order_not_found', 'There is no such order.');
    if (order.currency !== command.currency) {
      return refused(422, 'currency_mismatch', `The order is in ${order.currency}.`, 'currency');
    }
    if (this.#sql.reserve.run(command.amountMinor, command.orderId, command.amountMinor).changes === 0) {
      return refused(422, 'amount_exceeds_remaining', 'More than what is left of this order.', 'amountMinor');
    }
    const created = newRefund(command, now);
    this.#sql.insertRefund.run(created);
    const answer = answerTo(created);
    if (command.idempotencyKey !== null) {
      this.#sql.keepKey.run(command.idempotencyKey, command.fingerprint, answer.status, answer.text, now);
    }
    alongside(created);
    return { answer, created };
  }

  /**
   * Ends one pending refund: the money moves, or the reservation is given back.
   *
   * @param {RefundRow} refund
   * @param {number} now
   * @param {(settled: RefundRow) => void} alongside runs in the same transaction
   */
  #settle(refund, now, alongside) {
    const status = refund.complete_as ?? 'succeeded';
    if (this.#sql.settle.run(status, now, refund.refund_id).changes === 0) return;
    if (status === 'failed') this.#sql.giveBack.run(refund.amount_minor, refund.order_id);
    alongside({ ...refund, status, completed_at: now });
  }

  /** @param {number} now */
  refundsDue(now) {
    return this.#sql.refundsDue.all(now);
  }

  nextSettlementAt() {
    return this.#sql.nextSettlement.get()?.at ?? null;
  }

  /**
   * @param {{ orderId: string, amountMinor: number, currency: string, name: string, email: string }} order
   * @param {number} now
   * @returns {boolean} false when the id is taken
   */
  createOrder(order, now) {
    const { orderId, amountMinor, currency, name, email } = order;
    return this.#sql.insertOrder.run(orderId, amountMinor, currency, name, email, now).changes === 1;
  }

  /** @param {string} orderId */
  order(orderId) {
    return this.#sql.findOrder.get(orderId);
  }

  /** @param {number} limit */
  orders(limit) {
    return this.#sql.listOrders.all(limit);
  }

  /** @param {string} refundId */
  refund(refundId) {
    return this.#sql.findRefund.get(refundId);
  }

  /**
   * @param {{ idempotencyKey: string | null, orderId: string | null, createdBefore: number, limit: number }} filter
   */
  refunds({ idempotencyKey, orderId, createdBefore, limit }) {
    if (idempotencyKey !== null) {
      const found = this.#sql.refundsByKey.all(idempotencyKey, createdBefore, limit);
      return orderId === null ? found : found.filter((refund) => refund.order_id === orderId);
    }
    if (orderId !== null) return this.#sql.refundsByOrder.all(orderId, createdBefore, limit);
    return this.#sql.latestRefunds.all(createdBefore, limit);
  }

  /**
   * The oracle: an execution is a refund whose money has moved. It is counted in the rows themselves, so it cannot drift
   * from the effects and survives a restart.
   *
   * @param {string} keyPrefix `''` counts everything
   */
  executions(keyPrefix) {
    const rows = this.#sql.executions.all().filter(({ key }) => (key ?? '').startsWith(keyPrefix));
    const byKey = Object.fromEntries(rows.flatMap(({ key, n }) => (key === null ? [] : [[key, n]])));
    const withoutKey = rows.find(({ key }) => key === null)?.n ?? 0;
    return { total: rows.reduce((sum, { n }) => sum + n, 0), byKey, withoutKey };
  }

  refundsByStatus() {
    const counts = { pending: 0, succeeded: 0, failed: 0 };
    for (const row of this.#sql.statuses.all()) counts[row.status] = row.n;
    return counts;
  }
}

/**
 * @param {RefundCommand} command
 * @param {number} now
 * @returns {RefundRow}
 */
function newRefund(command, now) {
  const { pending } = command;
  return {
    refund_id: newRefundId(now),
    order_id: command.orderId,
    amount_minor: command.amountMinor,
    currency: command.currency,
    reason: command.reason,
    idempotency_key: command.idempotencyKey,
    status: pending === null ? 'succeeded' : 'pending',
    created_at: now,
    completed_at: pending === null ? now : null,
    complete_at: pending === null || pending.completeAs === 'never' ? null : now + pending.completeAfterMs,
    complete_as: pending === null || pending.completeAs === 'never' ? null : pending.completeAs,
    callback_plan: pending === null ? null : JSON.stringify(pending.callback),
  };
}

let refundsMade = 0;

/** Ids that grow with time keep the index's writes on its last page. @param {number} now */
function newRefundId(now) {
  refundsMade = (refundsMade + 1) % 0x100_0000;
  const count = refundsMade.toString(16).padStart(6, '0');
  return `re_${now.toString(16).padStart(12, '0')}${count}${randomBytes(4).toString('hex')}`;
}

/** @param {RefundRow} refund @returns {Answer} */
function answerTo(refund) {
  const { refundId, orderId, amountMinor, currency, status, createdAt } = refundView(refund);
  if (status === 'pending') return json(202, { refundId, status });
  return json(201, { refundId, orderId, amountMinor, currency, status, createdAt });
}

/**
 * @param {number} status
 * @param {string} code
 * @param {string} message
 * @param {string} [field]
 * @returns {{ answer: Answer, created: null }}
 */
function refused(status, code, message, field) {
  return { answer: refusal(status, code, message, field), created: null };
}
