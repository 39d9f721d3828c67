import { beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/builders/manual-clock.js';
import { FetchedCredential } from './fetched-credential.js';
import { TokenUnavailable, type FetchedToken } from './oauth-client.js';

let clock: ManualClock;
let answers: (FetchedToken | Error)[];
let asked: number;
let held: (string | null)[];
let failures: string[];
let credential: FetchedCredential;

beforeEach(() => {
  clock = new ManualClock('2031-01-01T00:00:00.000Z');
  [answers, asked, held, failures] = [[], 0, [], []];
  const fetch = async (): Promise<FetchedToken> => {
    asked += 1;
    await Promise.resolve();
    const answer = answers.shift() ?? new Error('nothing prepared');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const keeping = {
    hold: (token: string | null) => held.push(token),
    failed: (reason: string) => failures.push(reason),
  };
  credential = new FetchedCredential(fetch, keeping, clock);
});

const token = (name: string, lifetimeSeconds: number | null = 100): FetchedToken => ({ token: name, lifetimeSeconds });

describe('a credential that is fetched', () => {
  it('is fetched once for everybody who waits, and then used without waiting', async () => {
    answers = [token('one')];
    expect(await Promise.all([credential.ready(), credential.ready(), credential.ready()])).toEqual([true, true, true]);
    expect([asked, held]).toEqual([1, ['one']]);
    expect(credential.ready()).toBeNull();
    expect(credential.expiresAt).toBe(clock.now() + 100_000);
  });

  it('is replaced ahead of its end while it serves, and nobody waits for that', async () => {
    answers = [token('one'), token('two')];
    await credential.ready();
    clock.advance(74_000);
    expect([credential.ready(), asked]).toEqual([null, 1]);
    clock.advance(2_000);
    expect([credential.ready(), credential.ready(), asked]).toEqual([null, null, 2]);
    await new Promise(setImmediate);
    expect(held).toEqual(['one', 'two']);
    expect(credential.expiresAt).toBe(clock.now() + 100_000);
  });

  it('serves on although the one after it cannot be had at first, and is tried for again ahead of its end', async () => {
    answers = [token('one'), new TokenUnavailable('server_timeout'), token('two')];
    await credential.ready();
    clock.advance(80_000);
    expect(credential.ready()).toBeNull();
    await new Promise(setImmediate);
    expect(failures).toEqual(['server_timeout']);
    clock.advance(14_000);
    expect(credential.ready()).toBeNull();
    await new Promise(setImmediate);
    clock.advance(1_000);
    expect([credential.ready(), held]).toEqual([null, ['one', 'two']]);
  });

  it('is not used in its last seconds', async () => {
    answers = [token('one', 10), new TokenUnavailable('invalid_client')];
    await credential.ready();
    clock.advance(5_000);
    expect(await credential.ready()).toBe(false);
  });

  it('of a life that nobody says is believed for a minute', async () => {
    answers = [token('one', null)];
    await credential.ready();
    expect(credential.expiresAt).toBe(clock.now() + 60_000);
  });

  it('that cannot be had is not asked for again at once, however many want it', async () => {
    answers = [new TokenUnavailable('server_connect_failed'), token('one')];
    expect(await credential.ready()).toBe(false);
    for (let n = 0; n < 100; n += 1) expect(await credential.ready()).toBe(false);
    expect([asked, failures]).toEqual([1, ['server_connect_failed']]);
    clock.advance(1_000);
    expect(await credential.ready()).toBe(true);
  });

  it('tells nothing of an error that nobody foresaw', async () => {
    answers = [new Error('token abc in a message')];
    await credential.ready();
    expect(failures).toEqual(['unexpected']);
  });

  it('is fetched anew after it was forgotten, unless it came after what was refused', async () => {
    answers = [token('one'), token('two')];
    await credential.ready();
    const sentAt = clock.monotonic() + 1;
    credential.forgetOlderThan(sentAt);
    expect([held, credential.expiresAt]).toEqual([['one', null], null]);
    clock.advance(10);
    expect(await credential.ready()).toBe(true);
    credential.forgetOlderThan(sentAt);
    expect(held).toEqual(['one', null, 'two']);
    expect(credential.forget()).toBe('two');
    expect(credential.forget()).toBeNull();
  });
});
