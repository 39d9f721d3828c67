/**
 * The tool of all candidates: a refund endpoint that does next to nothing. It counts what it carried out, and which Idempotency-Keys it saw
 * twice; a key can be looked up, which is what our probe needs.
 *
 *   POST /refund                         carry out
 *   GET  /refund?idempotencyKey=KEY      look up
 *   GET  /counts                         {executions, repeatedKeys}
 */
import { createServer } from 'node:http';

/** @type {Set<string>} */
const keys = new Set();
let executions = 0;
let repeatedKeys = 0;

/** @param {import('node:http').ServerResponse} response @param {string} text */
function answer(response, text) {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.end(text);
}

/** @param {import('node:http').IncomingMessage} request @param {import('node:http').ServerResponse} response */
function refund(request, response) {
  request.resume().on('end', () => {
    const key = request.headers['idempotency-key'];
    executions += 1;
    if (typeof key === 'string') {
      if (keys.has(key)) repeatedKeys += 1;
      keys.add(key);
    }
    answer(response, `{"id":"re_${executions}","status":"succeeded"}`);
  });
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  const { method, url = '/' } = request;
  if (method === 'POST') return refund(request, response);
  if (url === '/counts') return answer(response, JSON.stringify({ executions, repeatedKeys }));
  const key = new URL(url, 'http://tool').searchParams.get('idempotencyKey') ?? '';
  return answer(response, `{"data":[${keys.has(key) ? '{"id":"re_found","status":"succeeded"}' : ''}]}`);
});
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  console.log(JSON.stringify({ listening: `http://127.0.0.1:${port}` }));
});
process.on('SIGTERM', () => process.exit(0));
