import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import { countersign } from '../support/command-line.js';
import { expectProblem } from '../support/http-client.js';
import { SessionClient, userMessage } from '../support/session-client.js';
import { CAST, Stack } from '../support/stack.js';

let stack: Stack;
afterEach(() => stack.destroy());

/** A session with something said in it, on disk. */
async function begun(sessionId: string): Promise<SessionClient> {
  const session = new SessionClient(await stack.as(CAST.harness), sessionId);
  expect((await session.open()).status).toBe(201);
  await session.say(userMessage('m1'));
  return session;
}

describe('sessions beside a store that was restored', () => {
  it.each([
    ['jsonl', 'file'],
    ['database', 'database'],
  ])(
    'go on where nothing has happened since, and are refused where it has (%s)',
    async (backend, snapshots) => {
      stack = await Stack.start({
        env: { COUNTERSIGN_SESSIONS__BACKEND: backend, COUNTERSIGN_SESSIONS__SNAPSHOTS: snapshots },
      });
      const untouched = await begun('untouched');
      const goneOn = await begun('gone-on');
      await stack.proxy.kill('SIGTERM');
      const directory = join(stack.dir, 'backup');
      expect((await countersign(['backup', directory], stack.environment)).code).toBe(0);

      await stack.restart('SIGTERM');
      await untouched.say(userMessage('m2'));
      expect((await goneOn.attach()).status).toBe(200);
      await goneOn.say(userMessage('m2'));
      const newer = await begun('newer');
      await stack.restart('SIGTERM');
      await stack.proxy.kill('SIGTERM');

      expect((await countersign(['restore', directory, '--replace'], stack.environment)).code).toBe(0);
      await stack.restart('SIGTERM');
      expect((await untouched.attach()).body).toMatchObject({ ownerEpoch: 2, nextSafe: ['start_run'] });
      await untouched.say(userMessage('m3'));
      expect((await untouched.messages()).map(({ role }) => role)).toEqual(['user', 'user', 'user']);
      expectProblem(await goneOn.attach(), 'session_log_corrupt');
      expectProblem(await newer.attach(), 'session_not_found');
      expectProblem(await newer.open(), 'session_exists');
      if (backend !== 'jsonl') return;
      rmSync(join(stack.dataDir, 'sessions', 'acme', 'newer.jsonl'));
      expect((await newer.open()).status).toBe(201);
    },
    30_000,
  );
});
