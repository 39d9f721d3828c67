import { writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { secretFile } from '../../test/builders/outbox-bench.js';
import { WebhookSigner } from './webhook-signer.js';

const secretOf = (byte: number, length = 32): string => `whsec_${Buffer.alloc(length, byte).toString('base64')}`;
const BODY = '{"text":"grüße"}';

class Clock {
  ms = 0;
  readonly now = (): number => this.ms;
}

function verifies(secret: string, signature: string): boolean {
  const timestamp = String(Math.floor(Date.now() / 1000));
  try {
    new Webhook(secret).verify(BODY, {
      'webhook-id': 'evt_1',
      'webhook-timestamp': timestamp,
      'webhook-signature': signature,
    });
    return true;
  } catch {
    return false;
  }
}

const signed = (signer: WebhookSigner): string => signer.sign('evt_1', Math.floor(Date.now() / 1000), BODY);

describe('a signature', () => {
  it('is what the reference implementation verifies, and only with the right secret', () => {
    const signature = signed(new WebhookSigner([`file:${secretFile(secretOf(1))}`], () => 0));
    expect(verifies(secretOf(1), signature)).toBe(true);
    expect(verifies(secretOf(2), signature)).toBe(false);
  });

  it('is one for every secret, over all references and lines', () => {
    const two = secretFile(`${secretOf(2)}\n${secretOf(3)}\n`);
    const signature = signed(new WebhookSigner([`file:${secretFile(secretOf(1))}`, `file:${two}`], () => 0));
    expect(signature.split(' ')).toHaveLength(3);
    for (const byte of [1, 2, 3]) expect(verifies(secretOf(byte), signature)).toBe(true);
  });

  it('follows its file, and keeps the last good secret when the file has none', () => {
    const clock = new Clock();
    const path = secretFile(secretOf(1));
    const signer = new WebhookSigner([`file:${path}`], clock.now);
    writeFileSync(path, secretOf(2));
    expect(verifies(secretOf(1), signed(signer))).toBe(true);
    clock.ms += 5_000;
    expect(verifies(secretOf(2), signed(signer))).toBe(true);
    writeFileSync(path, 'whsec_');
    clock.ms += 5_000;
    expect(verifies(secretOf(2), signed(signer))).toBe(true);
  });

  it.each([
    ['no secret', 'hunter2'],
    ['one that is too short', secretOf(1, 23)],
    ['one that is too long', secretOf(1, 65)],
    ['a second line that is none', `${secretOf(1)}\nhunter2`],
  ])('cannot be made with %s', (_, text) => {
    expect(() => new WebhookSigner([`file:${secretFile(text)}`], () => 0)).toThrow('not usable');
  });

  it('shows no secret when its maker is printed', () => {
    const signer = new WebhookSigner([`file:${secretFile(secretOf(1))}`], () => 0);
    expect(JSON.stringify({ signer })).toBe('{"signer":"[signer]"}');
  });
});
