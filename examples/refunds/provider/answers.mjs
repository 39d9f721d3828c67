/**
 * An answer as the provider means it, before any fault spoils its delivery.
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {string} text the body, JSON
 * @property {Record<string, string>} headers
 */

/**
 * How an answer leaves the process.
 *
 * @typedef {{ kind: 'whole' | 'half', answer: Answer } | { kind: 'slow', answer: Answer, overMs: number }
 *   | { kind: 'reset' } | { kind: 'hang' }} Transmission
 */

/** @typedef {import('node:http').IncomingMessage} Request */
/** @typedef {import('node:http').ServerResponse} Response */

const bodyBytesMax = 1_048_576;
const drainedBytesMax = 32 * bodyBytesMax;

/** @param {number} status @param {unknown} body @param {Record<string, string>} [headers] @returns {Answer} */
export function json(status, body, headers = {}) {
  return { status, text: JSON.stringify(body), headers };
}

/**
 * The one shape of an error: `{error: {code, message, field?}}`. The message never repeats what the caller sent.
 *
 * @param {number} status
 * @param {string} code
 * @param {string} message
 * @param {string} [field]
 */
export function refusal(status, code, message, field) {
  return json(status, { error: { code, message, ...(field === undefined ? {} : { field }) } });
}

export function bodyTooLarge() {
  return refusal(413, 'body_too_large', 'A request body has at most 1 MiB.');
}

/**
 * A body that is too long is read to its end and thrown away: closing on a caller who is still sending would reset the
 * connection, and the caller would never see the answer.
 *
 * @param {Request} request
 * @returns {Promise<string | null>} null when the body is longer than 1 MiB; rejects when the caller is gone before the
 *   body was complete, or sends without end
 */
export function readBody(request) {
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    const chunks = [];
    let bytes = 0;
    request.on('data', (/** @type {Buffer} */ chunk) => {
      bytes += chunk.length;
      if (bytes <= bodyBytesMax) chunks.push(chunk);
      else if (bytes > drainedBytesMax) request.destroy(new Error('The body does not end.'));
    });
    request.on('end', () => resolve(bytes > bodyBytesMax ? null : Buffer.concat(chunks).toString('utf8')));
    request.on('error', reject);
  });
}

/** @param {string} text @returns {Record<string, unknown> | null} null unless the text is one JSON object */
export function parseObject(text) {
  try {
    /** @type {unknown} */
    const value = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? /** @type {Record<string, unknown>} */ (value)
      : null;
  } catch {
    return null;
  }
}

/** @param {Response} response @param {Transmission} transmission */
export function transmit(response, transmission) {
  switch (transmission.kind) {
    case 'whole':
      writeHead(response, transmission.answer);
      response.end(transmission.answer.text);
      return;
    case 'half': {
      const body = Buffer.from(transmission.answer.text);
      writeHead(response, transmission.answer);
      response.write(body.subarray(0, Math.floor(body.length / 2)), () => response.destroy());
      return;
    }
    case 'slow':
      writeHead(response, transmission.answer);
      writeSlowly(response, Buffer.from(transmission.answer.text), transmission.overMs);
      return;
    case 'reset':
      // A TCP RST, not an orderly end: the caller sees ECONNRESET and not one byte of an answer.
      response.socket?.resetAndDestroy();
      return;
    case 'hang':
      // Nothing is ever written; the socket stays until the caller gives up or the provider stops.
      return;
  }
}

/** @param {Response} response @param {Answer} answer */
function writeHead(response, answer) {
  response.writeHead(answer.status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(answer.text),
    ...answer.headers,
  });
}

/** @param {Response} response @param {Buffer} body @param {number} overMs */
function writeSlowly(response, body, overMs) {
  const pieces = Math.min(20, body.length);
  let sent = 0;
  const timer = setInterval(
    () => {
      sent += 1;
      response.write(body.subarray(((sent - 1) * body.length) / pieces, (sent * body.length) / pieces));
      if (sent < pieces && !response.destroyed) return;
      clearInterval(timer);
      response.end();
    },
    Math.max(1, overMs / pieces),
  );
  response.on('close', () => clearInterval(timer));
}
