import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/builders/manual-clock.js';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { signedCallback } from '../../test/support/late-results.js';
import { SecretSource } from './secret-reference.js';
import { CallbackSecrets, type Delivery } from './callback-secrets.js';

const NOW = new Date('2031-01-01T10:00:00.000Z');
const SECRET = `whsec_${Buffer.from('the secret of now, quite long').toString('base64')}`;
const PREVIOUS = `whsec_${Buffer.from('the secret before, quite long').toString('base64')}`;

let dir: string;
let secrets: CallbackSecrets;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'callback-secrets-'));
  writeFileSync(join(dir, 'now'), `${SECRET}\n`);
  writeFileSync(join(dir, 'before'), PREVIOUS);
  const tool = { secret: `file:${join(dir, 'now')}`, previousSecret: `file:${join(dir, 'before')}` };
  const settings = settingsWith({ callbacks: { secrets: { tool }, toleranceMs: 300_000 } });
  secrets = new CallbackSecrets(settings, new ManualClock(NOW.toISOString()), new SecretSource());
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function delivery(secret = SECRET, at = NOW, body: unknown = { type: 'done' }): Delivery {
  const signed = signedCallback('msg-1', body, { secret, at });
  return {
    id: signed.headers['webhook-id'],
    timestamp: signed.headers['webhook-timestamp'],
    signature: signed.headers['webhook-signature'],
    body: Buffer.from(signed.body),
  };
}

describe('the signature of a callback', () => {
  it('is right as the library of Standard Webhooks makes it, also with the secret before a rotation', () => {
    expect(secrets.isSigned('tool', delivery())).toBe(true);
    expect(secrets.isSigned('tool', delivery(PREVIOUS))).toBe(true);
  });

  it('is right when one of several is', () => {
    const good = delivery();
    expect(secrets.isSigned('tool', { ...good, signature: `v1a,AAAA v1,AAAA ${good.signature}` })).toBe(true);
  });

  it.each<[string, (good: Delivery) => Delivery]>([
    ['of another secret', () => delivery(`whsec_${Buffer.from('somebody else’s secret').toString('base64')}`)],
    ['of another body', (good) => ({ ...good, body: Buffer.from('{"type":"failed"}') })],
    ['of another id', (good) => ({ ...good, id: 'msg-2' })],
    ['of another time', (good) => ({ ...good, timestamp: String(Number(good.timestamp) + 1) })],
    ['of another scheme', (good) => ({ ...good, signature: (good.signature ?? '').replace('v1,', 'v2,') })],
    ['that is empty', (good) => ({ ...good, signature: 'v1,' })],
    ['that is missing', (good) => ({ ...good, signature: undefined })],
    ['without an id', (good) => ({ ...good, id: undefined })],
    ['without a time', (good) => ({ ...good, timestamp: undefined })],
    ['whose time is no number', (good) => ({ ...good, timestamp: '1e9' })],
    ['too old', () => delivery(SECRET, new Date(NOW.getTime() - 301_000))],
    ['from the future', () => delivery(SECRET, new Date(NOW.getTime() + 301_000))],
  ])('is wrong %s', (_, spoil) => {
    expect(secrets.isSigned('tool', spoil(delivery()))).toBe(false);
  });

  it('is wrong for a name that has no secret', () => {
    expect(secrets.isSigned('other', delivery())).toBe(false);
  });

  it('needs every secret at boot, and names what is missing without its value', () => {
    const settings = settingsWith({
      callbacks: { secrets: { tool: { secret: 'file:/nowhere/secret', previousSecret: null } } },
    });
    expect(() => new CallbackSecrets(settings, new ManualClock(NOW.toISOString()), new SecretSource())).toThrow(
      /callbacks\.secrets\.tool/,
    );
  });
});
