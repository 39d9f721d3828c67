/** @typedef {import('./rows.mjs').OrderRow} OrderRow */
/** @typedef {import('./rows.mjs').RefundRow} RefundRow */
/** @typedef {{ fingerprint: string, status: number, answer: string, created_at: number }} KeyRow */
/** @template {unknown[]} P @template R @typedef {import('better-sqlite3').Statement<P, R>} Statement */

/**
 * better-sqlite3 cannot know which row a text selects: whoever prepares a statement names its parameters and its row.
 *
 * @param {import('better-sqlite3').Database} db
 */
export function typedPrepare(db) {
  /** @template {unknown[]} P @template R @param {string} sql @returns {Statement<P, R>} */
  return (sql) => /** @type {Statement<P, R>} */ (db.prepare(sql));
}

/** @param {import('better-sqlite3').Database} db */
export function prepareAll(db) {
  const prepare = typedPrepare(db);
  return {
    /** @type {Statement<[string], KeyRow>} */
    findKey: prepare('SELECT fingerprint, status, answer, created_at FROM idempotency_keys WHERE key = ?'),
    /** @type {Statement<[string, string, number, string, number], never>} */
    keepKey: prepare(
      'INSERT OR REPLACE INTO idempotency_keys (key, fingerprint, status, answer, created_at) VALUES (?, ?, ?, ?, ?)',
    ),
    /** @type {Statement<[string], OrderRow>} */
    findOrder: prepare('SELECT * FROM orders WHERE order_id = ?'),
    /** @type {Statement<[number], OrderRow>} */
    listOrders: prepare('SELECT * FROM orders ORDER BY order_id LIMIT ?'),
    /** @type {Statement<[string, number, string, string, string, number], never>} */
    insertOrder: prepare(
      `INSERT INTO orders (order_id, amount_minor, currency, customer_name, customer_email, created_at)
       VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
    ),
    /** @type {Statement<[number, string, number], never>} */
    reserve: prepare(
      `UPDATE orders SET refunded_minor = refunded_minor + ?
       WHERE order_id = ? AND refunded_minor + ? <= amount_minor`,
    ),
    /** @type {Statement<[number, string], never>} */
    giveBack: prepare('UPDATE orders SET refunded_minor = refunded_minor - ? WHERE order_id = ?'),
    /** @type {Statement<[RefundRow], never>} */
    insertRefund: prepare(
      `INSERT INTO refunds (refund_id, order_id, amount_minor, currency, reason, idempotency_key, status, created_at,
         completed_at, complete_at, complete_as, callback_plan)
       VALUES (@refund_id, @order_id, @amount_minor, @currency, @reason, @idempotency_key, @status, @created_at,
         @completed_at, @complete_at, @complete_as, @callback_plan)`,
    ),
    /** @type {Statement<['succeeded' | 'failed', number, string], never>} */
    settle: prepare(`UPDATE refunds SET status = ?, completed_at = ? WHERE refund_id = ? AND status = 'pending'`),
    /** @type {Statement<[number], RefundRow>} */
    refundsDue: prepare(
      `SELECT * FROM refunds WHERE status = 'pending' AND complete_at <= ? ORDER BY complete_at, seq LIMIT 500`,
    ),
    /** @type {Statement<[], { at: number | null }>} */
    nextSettlement: prepare(
      `SELECT MIN(complete_at) AS at FROM refunds WHERE status = 'pending' AND complete_at IS NOT NULL`,
    ),
    /** @type {Statement<[string], RefundRow>} */
    findRefund: prepare('SELECT * FROM refunds WHERE refund_id = ?'),
    /** @type {Statement<[string, number, number], RefundRow>} */
    refundsByKey: prepare('SELECT * FROM refunds WHERE idempotency_key = ? AND created_at <= ? ORDER BY seq LIMIT ?'),
    /** @type {Statement<[string, number, number], RefundRow>} */
    refundsByOrder: prepare('SELECT * FROM refunds WHERE order_id = ? AND created_at <= ? ORDER BY seq LIMIT ?'),
    /** @type {Statement<[number, number], RefundRow>} */
    latestRefunds: prepare('SELECT * FROM refunds WHERE created_at <= ? ORDER BY seq DESC LIMIT ?'),
    /** @type {Statement<[], { key: string | null, n: number }>} */
    executions: prepare(
      `SELECT idempotency_key AS key, COUNT(*) AS n FROM refunds WHERE status = 'succeeded' GROUP BY idempotency_key`,
    ),
    /** @type {Statement<[], { status: RefundRow['status'], n: number }>} */
    statuses: prepare('SELECT status, COUNT(*) AS n FROM refunds GROUP BY status'),
  };
}
