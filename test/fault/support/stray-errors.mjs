/**
 * Loaded into a server before it starts (`node --import`): a connector's library that goes wrong beside the calls it
 * answers. 50 ms after the answer to every POST it rejects a promise that nobody awaits or, on STRAY=exception, throws
 * where nobody catches.
 */
import { subscribe } from 'node:diagnostics_channel';
import { env } from 'node:process';

const AFTER_MS = 50;

subscribe('undici:request:headers', (message) => {
  const { request } = /** @type {{ request: { method: string } }} */ (message);
  if (request.method !== 'POST') return;
  setTimeout(() => {
    const error = new TypeError('stray-canary-5d1f: a text that may repeat what was sent');
    if (env['STRAY'] === 'exception') throw error;
    void Promise.reject(error);
  }, AFTER_MS);
});
