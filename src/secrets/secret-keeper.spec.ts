import { beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/builders/manual-clock.js';
import { MemoryStore } from '../../test/builders/memory-store.js';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { GuardFailed } from '../storage/unit.js';
import { UnitDraft } from '../storage/units/unit-draft.js';
import { IdSource } from '../system/id-source.js';
import { SystemRandom } from '../system/random-source.js';
import { Credentials } from './credentials.js';
import { SecretKeeper } from './secret-keeper.js';
import { SecretSource } from './secret-reference.js';
import { StoredSecrets } from './stored-secrets.js';

const START = '2031-01-01T00:00:00.000Z';
const VALUE = 'canary-keeper-8Rw';
const random = new SystemRandom();
const credential = (secret: string) => ({ kind: 'static', secret, header: 'authorization', scheme: null }) as const;

let clock: ManualClock;
let store: MemoryStore;
let keeper: SecretKeeper;

const keeperFor = (credentials: Readonly<Record<string, string>>): SecretKeeper => {
  const named = Object.entries(credentials).map(([name, secret]) => [name, credential(secret)] as const);
  return new SecretKeeper(store, random, settingsWith({ credentials: Object.fromEntries(named) }));
};

beforeEach(() => {
  clock = new ManualClock(START);
  store = new MemoryStore(clock);
  keeper = keeperFor({});
});

const draft = (): UnitDraft =>
  new UnitDraft(new IdSource(clock, random), {
    tenant: '*',
    lane: 'govern',
    actor: { sub: 'otto' },
    correlationId: 'secret',
    occurredAt: START,
    causationId: null,
    causeKind: 'external',
  });

async function put(name: string, value: string): Promise<number> {
  const unit = draft();
  const { version } = await keeper.putIn(unit, name, value);
  await store.commit(unit.build());
  return version;
}

async function retire(name: string, version: number, by = keeper): Promise<void> {
  const unit = draft();
  await by.retireIn(unit, name, version);
  await store.commit(unit.build());
}

const stored = (): Promise<StoredSecrets> => StoredSecrets.load(store.read, store.custody.keyRing);

describe('storing a secret', () => {
  it('adds versions, each on record by name and version and never by value', async () => {
    expect([await put('payments', VALUE), await put('payments', 'next'), await put('crm', 'x')]).toEqual([1, 2, 1]);
    expect(store.events.map(({ payload }) => payload)).toEqual([
      { name: 'payments', secretVersion: 1, kekId: store.custody.keyRing.currentId },
      { name: 'payments', secretVersion: 2, kekId: store.custody.keyRing.currentId },
      { name: 'crm', secretVersion: 1, kekId: store.custody.keyRing.currentId },
    ]);
    expect(JSON.stringify(store.units)).not.toContain(VALUE);
    expect(JSON.stringify(store.units)).not.toContain(Buffer.from(VALUE).toString('base64'));
  });

  it('gives the newest version to a reference without one, and each to one that names it', async () => {
    await put('payments', 'one');
    await put('payments', 'two');
    const { resolve } = new SecretSource(await stored());
    expect(
      ['secret:payments', 'secret:payments@1', 'secret:payments@2', 'secret:payments@3', 'secret:other'].map(resolve),
    ).toEqual(['two', 'one', 'two', null, null]);
  });

  it.each([
    ['no name', '', 'x'],
    ['a name that walks through folders', '../x', 'x'],
    ['a name with a version in it', 'a@1', 'x'],
    ['no value', 'a', ''],
    ['a value beyond the limit', 'a', 'ä'.repeat(32_769)],
  ])('refuses %s', async (_, name, value) => {
    await expect(keeper.putIn(draft(), name, value)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  it('lets one of two at the same time fail its guard', async () => {
    const [one, two] = [draft(), draft()];
    await keeper.putIn(one, 'payments', 'one');
    await keeper.putIn(two, 'payments', 'two');
    await store.commit(one.build());
    await expect(store.commit(two.build())).rejects.toThrow(GuardFailed);
  });
});

describe('retiring a version', () => {
  it('takes its value out of the store and leaves the others', async () => {
    await put('payments', 'one');
    await put('payments', 'two');
    await retire('payments', 1);
    expect(store.rows('secrets')[0]).toMatchObject({ wrapped: null, kek_id: null, sealed: null, retired_at: START });
    const { resolve } = new SecretSource(await stored());
    expect(['secret:payments@1', 'secret:payments'].map(resolve)).toEqual([null, 'two']);
    expect(await put('payments', 'three')).toBe(3);
  });

  it('is refused for what is not there, or not any more', async () => {
    await put('payments', 'one');
    await retire('payments', 1);
    for (const [name, version] of [
      ['payments', 1],
      ['payments', 2],
      ['other', 1],
    ] as const) {
      await expect(retire(name, version)).rejects.toMatchObject({ code: 'secret_not_found' });
    }
  });

  it('is refused where a setting would be left without a value, and says which', async () => {
    await put('payments', 'one');
    const newest = keeperFor({ pay: 'secret:payments' });
    const inUse = { code: 'secret_in_use', message: 'credentials.pay.secret would have no value' };
    await expect(retire('payments', 1, newest)).rejects.toMatchObject(inUse);
    await put('payments', 'two');
    const pinned = keeperFor({ pay: 'secret:payments@1' });
    await expect(retire('payments', 1, pinned)).rejects.toMatchObject(inUse);
    await retire('payments', 1, newest);
    await expect(retire('payments', 2, newest)).rejects.toMatchObject(inUse);
  });
});

describe('a credential that names a stored secret', () => {
  it('has the newest value from the moment it is stored, and the one before is still taken out of answers', async () => {
    await put('payments', 'value-number-one');
    const secrets = await stored();
    const credentials = new Credentials(
      { credentials: { pay: credential('secret:payments') } },
      new SecretSource(secrets),
    );
    expect(credentials.header('pay').reveal()).toEqual({ authorization: 'value-number-one' });
    await put('payments', 'value-number-two');
    await secrets.reload();
    expect(credentials.header('pay').reveal()).toEqual({ authorization: 'value-number-two' });
    expect(credentials.scrub('value-number-one, value-number-two')).toBe('[redacted], [redacted]');
    expect(String(credentials.header('pay'))).toBe('[secret:payments]');
  });

  it('stops the start while nobody has stored it', async () => {
    const source = new SecretSource(await stored());
    expect(() => new Credentials({ credentials: { pay: credential('secret:payments') } }, source)).toThrow(
      'credentials.pay.secret: secret:payments has no value',
    );
  });
});
