/** What the bench asks for: the same transfer directly at the tool and through the proxy, each with its own key. */

/** Of the length that the peers' request has, so that rates can be laid side by side. */
const MEMO = 'x'.repeat(300);

/** @param {string} name unique per call */
const transfer = (name) => ({
  accountId: `account-${name}`,
  amountMinor: 4200,
  currency: 'EUR',
  beneficiary: { name: 'Mara Example', country: 'NL' },
  reference: `invoice ${name}`,
  labels: ['supplier', 'monthly'],
  memo: MEMO,
});

/**
 * @param {string} toolKey
 * @param {string} series
 * @returns {(index: number) => import('./closed-loop.mjs').LoopRequest}
 */
export function directRequests(toolKey, series) {
  const fixed = { authorization: `Bearer ${toolKey}`, 'content-type': 'application/json' };
  return (index) => ({
    path: '/v1/transfers',
    headers: { ...fixed, 'idempotency-key': `${series}-${index}` },
    body: JSON.stringify(transfer(`${series}-${index}`)),
  });
}

/**
 * @param {string} token
 * @param {string} series
 * @returns {(index: number) => import('./closed-loop.mjs').LoopRequest}
 */
export function gatedRequests(token, series) {
  const fixed = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    prefer: 'wait=20',
    // One labelled run for all, so that the number of events that belong to no call does not depend on the date.
    'run-id': 'bench',
  };
  return (index) => ({
    path: '/v1/tool-calls',
    headers: { ...fixed, 'idempotency-key': `${series}-${index}` },
    body: JSON.stringify({ capability: 'transfer.create', arguments: transfer(`${series}-${index}`) }),
  });
}
