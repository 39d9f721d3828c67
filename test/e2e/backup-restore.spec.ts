import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { EventPageRepresentation, EventRepresentation } from '../../src/client/contract/events.js';
import type { ReadinessRepresentation } from '../../src/client/contract/health.js';
import type { BackupManifest } from '../../src/storage/backup-manifest.js';
import { countersign } from '../support/command-line.js';
import { ask, opaqueManifest, permit, probeableManifest, readOnlyManifest } from '../support/demo-capabilities.js';
import { approvalIdOf, expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';

const AMOUNT = { amount: { type: 'integer' } };
const SETTLED = ['completed', 'failed', 'manual_handoff'];

let stack: Stack;
let harness: Client;
let lena: Client;
let operator: Client;
let nobody: Client;
let tokenFile: string;
let amount = 0;

beforeAll(async () => {
  stack = await Stack.start({
    capabilities: {
      ...opaqueManifest('demo.send', AMOUNT),
      ...opaqueManifest('demo.wipe', AMOUNT),
      ...probeableManifest('demo.pay', AMOUNT),
      ...readOnlyManifest('demo.look', AMOUNT),
    },
    policies: { ...permit('demo.send'), ...ask('demo.wipe'), ...ask('demo.pay'), ...ask('demo.look') },
  });
  harness = await stack.as(CAST.harness);
  lena = await stack.as(CAST.lena);
  operator = await stack.as(CAST.operator);
  nobody = stack.withToken(null);
  tokenFile = join(stack.dir, 'operator-token');
  writeFileSync(tokenFile, await stack.token(CAST.operator), { mode: 0o600 });
});
afterAll(() => stack.destroy());

const run = (...args: string[]) => countersign(args, stack.environment);
const askServer = (...args: string[]) => run(...args, '--url', stack.proxy.url, '--token-file', tokenFile);
const propose = (capability: string, wait = 0) => {
  amount += 1;
  return harness.propose(capability, { amount }, { wait });
};
const send = () => propose('demo.send', 10);
const executions = () =>
  ['/demo.send', '/demo.wipe', '/demo.pay', '/demo.look'].reduce(
    (sum, path) => sum + stack.tool.executions(path).length,
    0,
  );
const readiness = async () => (await nobody.get<ReadinessRepresentation>('/readyz')).body;
const manifestIn = (directory: string) =>
  JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8')) as BackupManifest;

/** Events of these types, oldest first, with their payloads. */
async function events(...types: string[]): Promise<EventRepresentation[]> {
  const all: EventRepresentation[] = [];
  for (let [after, head] = [-1, 0]; after < head;) {
    const path = `/v1/events?types=${types.join(',')}&after=${after}`;
    const { body } = await operator.get<EventPageRepresentation>(path);
    all.push(...body.items);
    [after, head] = [body.nextAfter, body.head];
  }
  return all;
}

describe('a backup', () => {
  it('is made while calls go on, put back only on purpose, and then held: nothing runs a second time until and after an operator accepts it', async () => {
    await send();
    const waiting = {
      pay: await propose('demo.pay'),
      wipe: await propose('demo.wipe'),
      look: await propose('demo.look'),
    };
    const untouched = await propose('demo.pay');
    const allowed = await propose('demo.wipe');
    await operator.control({ type: 'pause', target: { capability: 'demo.wipe' } });
    expect((await lena.decide(approvalIdOf(allowed), 'allow')).status).toBe(200);

    const directory = join(stack.dir, 'copies', 'first');
    const [made] = await Promise.all([askServer('backup', directory), ...Array.from({ length: 8 }, send)]);
    expect([made.code, made.err]).toEqual([0, expect.stringContaining('events, root')]);
    expect(made.out).toBe(`${directory}\n`);
    expect(readdirSync(directory).toSorted()).toEqual(['countersign.sqlite', 'manifest.json']);
    expect(readdirSync(directory).map((name) => statSync(join(directory, name)).mode & 0o777)).toEqual([0o600, 0o600]);
    const manifest = manifestIn(directory);
    expect((await askServer('backup', directory)).err).toContain('backup_failed: the directory is not empty');
    const strangers = await lena.post('/v1/backups', undefined);
    expectProblem(strangers, 'not_authorized');

    // The time that will be lost: twenty calls, and everything that waited is carried out.
    await Promise.all(Array.from({ length: 20 }, send));
    await operator.control({ type: 'unpause', target: { capability: 'demo.wipe' } });
    for (const call of [waiting.pay, waiting.wipe, waiting.look]) await lena.decide(approvalIdOf(call), 'allow');
    for (const call of [waiting.pay, waiting.wipe, waiting.look, allowed]) {
      await harness.callWhen(call.body.toolCallId, ['completed']);
    }
    const before = executions();

    expect((await run('restore', directory, '--replace')).err).toContain('instance_already_running');
    await stack.proxy.kill('SIGTERM');
    const files = readdirSync(stack.dataDir).toSorted();
    expect((await run('restore', directory)).err).toContain('restore_refused');
    expect(readdirSync(stack.dataDir).toSorted()).toEqual(files);
    const restored = await run('restore', directory, '--replace');
    expect([restored.code, restored.out]).toEqual([0, expect.stringContaining(`restored ${manifest.size} events`)]);
    await stack.restart('SIGTERM');

    expect(await readiness()).toMatchObject({
      ready: true,
      degraded: true,
      reasons: [{ name: 'paused' }, { name: 'restored_store' }],
    });
    expectProblem(await send(), 'store_held');
    expect((await harness.call(waiting.pay.body.toolCallId)).status).toBe(200);
    expect((await lena.decide(approvalIdOf(waiting.wipe), 'allow')).status).toBe(409);
    // Look-ups go on: what had happened is found, what had not is proven absent, what cannot be asked goes to people.
    const settled = async (call: { body: { toolCallId: string } }) =>
      (await harness.callWhen(call.body.toolCallId, SETTLED)).status;
    expect(await settled(waiting.pay)).toBe('completed');
    expect(await settled(untouched)).toBe('failed');
    expect(await settled(waiting.wipe)).toBe('manual_handoff');
    expect(await settled(allowed)).toBe('manual_handoff');
    // A read may be made again: it only waits.
    expect((await harness.call(waiting.look.body.toolCallId)).body.status).toBe('proposed');
    await pause(700);
    expect(executions()).toBe(before);
    const unknown = await events('tool.call.result_unknown');
    expect(new Set(unknown.map(({ payload }) => payload?.['cause']))).toEqual(new Set(['restored']));
    expect(unknown).toHaveLength(4);

    await stack.restart('SIGKILL');
    expect((await readiness()).reasons.map(({ name }) => name)).toContain('restored_store');
    const detected = await events('ledger.restore_detected');
    expect(detected).toHaveLength(1);
    expect(detected[0]?.payload).toMatchObject({ size: manifest.size, root: manifest.root, complete: false });
    expect(Number(detected[0]?.payload?.['knownSize'])).toBeGreaterThan(manifest.size);

    expectProblem(await lena.control({ type: 'accept_restore', target: 'store', reason: 'no' }), 'not_authorized');
    expect((await askServer('restore', 'accept')).code).toBe(2);
    const accepted = await askServer('restore', 'accept', '--reason', 'the disk of before is lost');
    expect([accepted.code, accepted.out]).toEqual([0, expect.stringContaining('accepted: cmd_')]);
    const [acceptance, ...more] = await events('ledger.restore_accepted');
    expect(more).toEqual([]);
    expect(acceptance?.payload).toMatchObject({
      reason: 'the disk of before is lost',
      knownSize: detected[0]?.payload?.['knownSize'],
      knownRoot: detected[0]?.payload?.['knownRoot'],
      root: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    await operator.control({ type: 'unpause', target: { capability: 'demo.wipe' } });
    await pause(700);
    expect(executions()).toBe(before);
    expect((await send()).body.status).toBe('completed');
    expect(executions()).toBe(before + 1);
    await lena.decide(approvalIdOf(waiting.look), 'allow');
    await harness.callWhen(waiting.look.body.toolCallId, ['completed']);

    await stack.restart('SIGTERM');
    expect((await readiness()).reasons).toEqual([]);
    expect((await askServer('restore', 'accept', '--reason', 'again')).err).toContain('store_not_held');
  }, 60_000);

  it('that is not whole, or is of another key, is put nowhere', async () => {
    await stack.proxy.kill('SIGTERM');
    const directory = join(stack.dir, 'copies', 'second');
    expect((await run('backup', directory)).code).toBe(0);
    const data = readdirSync(stack.dataDir).toSorted();
    const broken = join(stack.dir, 'copies', 'broken');
    cpSync(directory, broken, { recursive: true });
    const copy = readFileSync(join(broken, 'countersign.sqlite'));
    copy.writeUInt8(copy.readUInt8(copy.length - 1) ^ 1, copy.length - 1);
    writeFileSync(join(broken, 'countersign.sqlite'), copy);
    expect((await run('restore', broken, '--replace')).err).toContain('backup_damaged');
    rmSync(join(broken, 'manifest.json'));
    expect((await run('restore', broken, '--replace')).err).toContain('backup_damaged');
    const elsewhere = join(stack.dir, 'elsewhere');
    mkdirSync(elsewhere);
    const env = {
      ...stack.environment,
      COUNTERSIGN_DATA_DIR: elsewhere,
      COUNTERSIGN_STORAGE__KEY_FILE: join(elsewhere, 'kek.json'),
    };
    expect((await countersign(['restore', directory], env)).err).toContain('key_ring_unusable');
    expect(existsSync(join(elsewhere, 'countersign.sqlite'))).toBe(false);
    expect(readdirSync(stack.dataDir).toSorted()).toEqual(data);
  });
});

describe('a database that is older than what is known of it', () => {
  it('is held however it was put there, and again when the note itself is gone', async () => {
    await stack.proxy.kill('SIGTERM');
    const file = join(stack.dataDir, 'countersign.sqlite');
    const old = join(stack.dir, 'old.sqlite');
    cpSync(file, old);
    await stack.restart('SIGTERM');
    expect((await send()).body.status).toBe('completed');
    const before = executions();
    await stack.proxy.kill('SIGTERM');
    cpSync(old, file);
    await stack.restart('SIGTERM');
    expect((await readiness()).reasons).toMatchObject([
      { name: 'restored_store', detail: expect.stringContaining('fewer events than were known') },
    ]);
    expectProblem(await send(), 'store_held');
    expect((await askServer('restore', 'accept', '--reason', 'looked at')).code).toBe(0);
    expect((await send()).body.status).toBe('completed');
    expect(executions()).toBe(before + 1);

    await stack.proxy.kill('SIGTERM');
    rmSync(join(stack.dataDir, 'head.json'));
    await stack.restart('SIGTERM');
    expect((await readiness()).reasons).toMatchObject([
      { name: 'restored_store', detail: expect.stringContaining('is missing') },
    ]);
    expect((await askServer('restore', 'accept', '--reason', 'the note was lost')).code).toBe(0);
    await stack.restart('SIGKILL');
    expect((await readiness()).reasons).toEqual([]);
  }, 30_000);
});
