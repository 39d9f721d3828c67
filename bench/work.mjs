/** What the bench asks for: the same transfer directly at the tool and through the proxy, each with its own key. */

/** Of the length that the peers' request has, so that rates can be laid side by side. */
const MEMO = 'x'.repeat(300);

const AMOUNT_MINOR = 4200;
/** Above what the policies let an agent send without a lead. */
export const ASKS_AMOUNT_MINOR = 60_000;

/** @param {string} name unique per call @param {number} [amountMinor] */
const transfer = (name, amountMinor = AMOUNT_MINOR) => ({
  accountId: `account-${name}`,
  amountMinor,
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
 * @typedef {object} GatedWork
 * @property {string} [run] label of the run; one for all, so that the number of events that belong to no call does not depend on the date
 * @property {number} [amountMinor]
 * @property {number} [waitSeconds] how long an answer may wait for the end of its call
 */

/**
 * @param {string} token
 * @param {string} series
 * @param {GatedWork} [work]
 * @returns {(index: number) => import('./closed-loop.mjs').LoopRequest}
 */
export function gatedRequests(token, series, { run = 'bench', amountMinor, waitSeconds = 20 } = {}) {
  const fixed = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    ...(waitSeconds > 0 ? { prefer: `wait=${waitSeconds}` } : {}),
    'run-id': run,
  };
  return (index) => ({
    path: '/v1/tool-calls',
    headers: { ...fixed, 'idempotency-key': `${series}-${index}` },
    body: JSON.stringify({ capability: 'transfer.create', arguments: transfer(`${series}-${index}`, amountMinor) }),
  });
}

/** What the tool is asked by call `index` of a series, to find it again there. @param {string} series @param {number} index */
export const referenceOf = (series, index) => transfer(`${series}-${index}`).reference;
