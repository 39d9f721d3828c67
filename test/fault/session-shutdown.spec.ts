import { afterEach, describe, expect, it } from '@jest/globals';
import { SessionClient, userMessage } from '../support/session-client.js';
import { CAST, Stack } from '../support/stack.js';

let stack: Stack;
afterEach(() => stack.destroy());

/** Longer than it takes to stop when nobody is waited for. */
const MOMENT_MS = 6000;

describe('SIGTERM with somebody who follows a session', () => {
  it.each(['jsonl', 'database'])(
    'ends the stream with a word, writes what was only accepted, and waits for nobody [D-46, %s]',
    async (backend) => {
      const env = { COUNTERSIGN_SESSIONS__BACKEND: backend, COUNTERSIGN_SESSIONS__WRITE_BATCH_MAX_DELAY_MS: '60000' };
      stack = await Stack.start({ env });
      const session = new SessionClient(await stack.as(CAST.harness), 'followed');
      expect((await session.open()).status).toBe(201);
      const response = await fetch(`${stack.proxy.url}${session.path}/events`, {
        headers: { authorization: `Bearer ${await stack.token(CAST.harness)}`, accept: 'text/event-stream' },
      });
      const words = response.text();
      expect((await session.append([userMessage('m1'), userMessage('m2')])).body.durable).toBe(false);
      const begun = performance.now();
      expect(await stack.proxy.kill('SIGTERM')).toBe(0);
      expect(performance.now() - begun).toBeLessThan(MOMENT_MS);
      expect(await words).toMatch(/: the stream is over; go on with Last-Event-ID\n\n$/);
      await stack.restart('SIGTERM');
      expect((await session.attach()).body.history.map(({ messageId }) => messageId)).toEqual(['m1', 'm2']);
    },
    30_000,
  );
});
