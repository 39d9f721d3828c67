import type { KeyRing } from '../storage/key-ring.js';
import type { TableRow } from '../storage/rows/tables.js';
import { DATA_KEY_BYTES, NONCE_BYTES, seal, unseal } from '../storage/sealing.js';
import { secretKeyContext, secretValueContext, type SecretName } from '../storage/secret-key.js';
import type { RandomSource } from '../system/random-source.js';

export type Envelope = Pick<TableRow<'secrets'>, 'wrapped' | 'kek_id' | 'sealed'>;

/** A value under a data key of its own, and that key under the current key-encryption key; both bound to name and version. */
export function sealSecret(keyRing: KeyRing, random: RandomSource, name: SecretName, value: string): Envelope {
  const key = random.bytes(DATA_KEY_BYTES);
  const sealed = seal(key, random.bytes(NONCE_BYTES), secretValueContext(name), Buffer.from(value, 'utf8'));
  const wrapped = keyRing.wrap(key, secretKeyContext(name));
  return { wrapped: base64(wrapped), kek_id: keyRing.currentId, sealed: base64(sealed) };
}

/** Null for a retired version. Throws a plain `Error` when the row is not as `sealSecret` made it, or its key is not loaded. */
export function openSecret(keyRing: KeyRing, row: SecretName & Envelope): string | null {
  const { wrapped, kek_id, sealed } = row;
  if (wrapped === null || kek_id === null || sealed === null) return null;
  const key = keyRing.unwrap(kek_id, Buffer.from(wrapped, 'base64'), secretKeyContext(row));
  return Buffer.from(unseal(key, secretValueContext(row), Buffer.from(sealed, 'base64'))).toString('utf8');
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');
