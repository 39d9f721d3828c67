import { createHash } from 'node:crypto';

const entriesMax = 2_000;
const entryBytesMax = 64 * 1_048_576;

/**
 * One refund request exactly as it arrived.
 *
 * @typedef {object} Entry
 * @property {number} seq
 * @property {string} receivedAt
 * @property {string} target method and request target
 * @property {Record<string, string>} headers lower-case names; repeated headers joined by `, `; the value of
 *   `authorization` is replaced by `sha256:` and the first 16 hex digits of its digest
 * @property {string} body raw text
 * @property {string} answer what was sent: the status and how (`201 whole`, `201 half`, `reset`, …)
 */

/** What was received, newest last, bounded by count and by bytes. It lives in memory and starts empty. */
export class RequestJournal {
  /** @type {Entry[]} */
  #entries = [];
  #bytes = 0;
  #received = 0;
  /** @type {Map<string, number>} */
  #byKey = new Map();
  #lookups = 0;
  #redirectsFollowed = 0;

  /**
   * @param {import('node:http').IncomingMessage} request
   * @param {string} body
   * @param {string | null} key
   */
  record(request, body, key) {
    this.#received += 1;
    if (key !== null) this.#byKey.set(key, (this.#byKey.get(key) ?? 0) + 1);
    const entry = {
      seq: this.#received,
      receivedAt: new Date().toISOString(),
      target: `${request.method} ${request.url}`,
      headers: headersWithoutCredential(request),
      body,
      answer: 'none yet',
    };
    this.#entries.push(entry);
    this.#bytes += body.length;
    while (this.#entries.length > entriesMax || this.#bytes > entryBytesMax) {
      this.#bytes -= this.#entries.shift()?.body.length ?? 0;
    }
    return entry;
  }

  recordLookup() {
    this.#lookups += 1;
  }

  recordFollowedRedirect() {
    this.#redirectsFollowed += 1;
  }

  /** @param {number} limit @param {string} keyPrefix @returns {Entry[]} newest first */
  latest(limit, keyPrefix) {
    return this.#entries
      .filter((entry) => (entry.headers['idempotency-key'] ?? '').startsWith(keyPrefix))
      .slice(-limit)
      .toReversed();
  }

  /** @param {string} keyPrefix */
  counts(keyPrefix) {
    const byKey = [...this.#byKey].filter(([key]) => key.startsWith(keyPrefix));
    return {
      requests: keyPrefix === '' ? this.#received : byKey.reduce((sum, [, n]) => sum + n, 0),
      requestsByKey: Object.fromEntries(byKey),
      lookups: this.#lookups,
      redirectsFollowed: this.#redirectsFollowed,
      lastHeaders: this.#entries.at(-1)?.headers ?? null,
    };
  }
}

/** @param {import('node:http').IncomingMessage} request */
function headersWithoutCredential(request) {
  /** @type {Record<string, string>} */
  const headers = {};
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    const value = (values ?? []).join(', ');
    headers[name] = name === 'authorization' ? `sha256:${digest(value)}` : value;
  }
  return headers;
}

/** @param {string} value */
function digest(value) {
  return createHash('sha256').update(value).digest('hex').slice(0, 16);
}
