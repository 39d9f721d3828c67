import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { countersign } from '../support/command-line.js';
import { approvalIdOf, Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';
import { startProxy } from '../../examples/refunds/stack.mjs';
import { SCHEMA_VERSION } from '../../src/storage/migrations.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const NEXT = SCHEMA_VERSION + 1;

let stack: Stack;
/** The next release: this program with one more migration, in a folder of its own. */
let release: string;

beforeAll(async () => {
  release = mkdtempSync(join(tmpdir(), 'countersign-next-'));
  for (const name of ['dist', 'migrations', 'config'])
    cpSync(join(ROOT, name), join(release, name), { recursive: true });
  for (const name of ['package.json', 'node_modules']) symlinkSync(join(ROOT, name), join(release, name));
  writeFileSync(join(release, 'migrations', NEXT_FILE), MIGRATION);
  const list = join(release, 'dist/storage/migrations.js');
  const text = readFileSync(list, 'utf8');
  const longer = text.replace(/(MIGRATION_FILES = \[[^\]]*?'),?(\s*\])/, `$1, '${NEXT_FILE}'$2`);
  if (longer === text) throw new Error('the list of migrations has another form');
  writeFileSync(list, longer);
  stack = await Stack.start();
});
afterAll(async () => {
  await stack.destroy();
  rmSync(release, { recursive: true, force: true });
});

/** Its number is the version that it brings the schema to. */
const NEXT_FILE = `${String(NEXT).padStart(4, '0')}-one-more.mjs`;

const MIGRATION = `export class OneMore4102444800000 {
  name = 'OneMore4102444800000';
  async up(runner) {
    await runner.query('CREATE TABLE one_more (id TEXT NOT NULL PRIMARY KEY) STRICT');
    await runner.query('PRAGMA user_version = ${NEXT}');
  }
  async down() {}
}
`;

const next = (...args: string[]) => countersign(args, stack.environment, join(release, 'dist/cli/countersign.js'));
const database = (): Buffer => readFileSync(join(stack.dataDir, 'countersign.sqlite'));

/** A call whose tool has done its work without a word, and whose look-ups fail. */
async function leaveOnTheWire(harness: Client): Promise<{ toolCallId: string; orderId: string }> {
  const orderId = await stack.provider.order();
  await stack.provider.inject({ hangForever: 'afterEffect', orderId });
  await stack.provider.inject({ probeStatus: 503 });
  const { body } = await harness.propose('refund.create', { orderId, amountMinor: 500 }, { wait: 0 });
  await until(
    'the provider has the request',
    () => stack.provider.executionsOf(orderId),
    (count) => count > 0,
  );
  return { toolCallId: body.toolCallId, orderId };
}

describe('a database of an older schema', () => {
  it('is changed by countersign migrate alone, keeps what was recorded and what was on the wire, and is then too new for the old program', async () => {
    const harness = await stack.as(CAST.harness);
    const orderId = await stack.provider.order();
    const consented = await harness.propose('refund.create', { orderId, amountMinor: 7_500 }, { wait: 0 });
    await (await stack.as(CAST.lena)).decide(approvalIdOf(consented), 'allow');
    const ran = await harness.callWhen(consented.body.toolCallId, ['completed']);
    const asked = await harness.propose('refund.create', { orderId: 'ord_1002', amountMinor: 7_500 }, { wait: 0 });
    const { toolCallId } = asked.body;
    const token = await stack.token(CAST.harness);

    const whileRunning = await next('migrate');
    expect(whileRunning).toMatchObject({ code: 1, out: '' });
    expect(whileRunning.err).toMatch(/^instance_already_running: .*pid \d+/);
    expect((await next('migrate', '--check')).code).toBe(1);
    const unsettled = await leaveOnTheWire(harness);
    await stack.proxy.kill('SIGTERM');

    const before = database();
    const refused = await next('start');
    expect(refused.code).toBe(1);
    expect(refused.err).toMatch(/^schema_migration_needed: .*countersign migrate/);
    const checked = await next('migrate', '--check');
    expect(checked.code).toBe(3);
    expect(checked.out).toMatch(new RegExp(`^schema ${SCHEMA_VERSION}, this program needs ${NEXT}: copy `));
    expect(database().equals(before)).toBe(true);

    expect(await next('migrate')).toEqual({ code: 0, out: `schema ${SCHEMA_VERSION} -> ${NEXT}\n`, err: '' });
    expect(await next('migrate')).toEqual({ code: 0, out: `schema ${NEXT}: nothing to do\n`, err: '' });
    expect((await next('migrate', '--check')).code).toBe(0);

    const old = await countersign(['start'], stack.environment);
    expect(old.code).toBe(1);
    expect(old.err).toMatch(/^schema_version_unsupported: /);

    stack.proxy = await startProxy({ env: stack.environment, program: join(release, 'dist/main.js') });
    const shown = await new Client(() => stack.proxy.url, token).call(toolCallId);
    expect(shown.body).toEqual(asked.body);
    const client = new Client(() => stack.proxy.url, token);
    expect((await client.call(ran.toolCallId)).body).toEqual(ran);
    expect(await stack.provider.executionsOf(orderId)).toBe(1);
    expect(['result_unknown', 'reconciling']).toContain((await client.call(unsettled.toolCallId)).body.status);
    await stack.provider.heal();
    expect(await client.callWhen(unsettled.toolCallId, ['completed'])).toMatchObject({ attempt: 1 });
    expect(await stack.provider.requestsOf(unsettled.orderId)).toHaveLength(1);
  });

  it('is none where there is no database yet, and the check makes none', async () => {
    const dataDir = join(stack.dir, 'elsewhere');
    const env = { ...stack.environment, COUNTERSIGN_DATA_DIR: dataDir };
    for (const args of [['migrate', '--check'], ['migrate']]) {
      const answer = await countersign(args, env);
      expect(answer).toMatchObject({ code: 0, err: '' });
      expect(answer.out).toContain(`the first start makes it with schema ${SCHEMA_VERSION}`);
    }
    expect(readdirSync(stack.dir)).not.toContain('elsewhere');
  });
});
