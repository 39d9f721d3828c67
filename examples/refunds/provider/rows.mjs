/**
 * @typedef {object} OrderRow
 * @property {string} order_id
 * @property {number} amount_minor
 * @property {number} refunded_minor
 * @property {string} currency
 * @property {string} customer_name
 * @property {string} customer_email
 * @property {number} created_at
 */

/**
 * @typedef {object} RefundRow
 * @property {string} refund_id
 * @property {string} order_id
 * @property {number} amount_minor
 * @property {string} currency
 * @property {string | null} reason
 * @property {string | null} idempotency_key
 * @property {'pending' | 'succeeded' | 'failed'} status
 * @property {number} created_at
 * @property {number | null} completed_at
 * @property {number | null} complete_at when a pending refund settles; null: it never does
 * @property {'succeeded' | 'failed' | null} complete_as
 * @property {string | null} callback_plan JSON of a CallbackPlan
 */

/**
 * A refund as lookups and callbacks show it.
 *
 * @param {RefundRow} refund
 */
export function refundView(refund) {
  return {
    refundId: refund.refund_id,
    orderId: refund.order_id,
    amountMinor: refund.amount_minor,
    currency: refund.currency,
    status: refund.status,
    reason: refund.reason,
    idempotencyKey: refund.idempotency_key,
    createdAt: new Date(refund.created_at).toISOString(),
    completedAt: refund.completed_at === null ? null : new Date(refund.completed_at).toISOString(),
  };
}

/** @param {OrderRow} order */
export function orderView(order) {
  return {
    orderId: order.order_id,
    amountMinor: order.amount_minor,
    refundedMinor: order.refunded_minor,
    remainingMinor: order.amount_minor - order.refunded_minor,
    currency: order.currency,
    customer: { name: order.customer_name, email: order.customer_email },
    createdAt: new Date(order.created_at).toISOString(),
  };
}
