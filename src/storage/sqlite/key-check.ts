import type { Database } from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { KeyRing } from '../key-ring.js';

/** The fact in `meta` that proves the key: something wrapped that only the right key-encryption key unwraps. */
export const KEY_CHECK = 'key_check';

const CONTEXT = 'countersign/key-check';
const KNOWN_BYTES = 32;

export function keyCheckValue(keyRing: KeyRing): string {
  const wrapped = keyRing.wrap(new Uint8Array(KNOWN_BYTES), CONTEXT);
  return JSON.stringify({ kekId: keyRing.currentId, wrapped: Buffer.from(wrapped).toString('base64') });
}

/** Throws `key_ring_unusable` unless this key ring has the key that the database was written with. */
export function assertRightKey(database: Database, keyRing: KeyRing): void {
  const text: unknown = database.prepare('SELECT value FROM meta WHERE name = ?').pluck().get(KEY_CHECK);
  try {
    const { kekId, wrapped } = JSON.parse(String(text)) as { readonly kekId: string; readonly wrapped: string };
    keyRing.unwrap(kekId, Buffer.from(wrapped, 'base64'), CONTEXT);
  } catch {
    throw new CountersignError('key_ring_unusable', 'the database was written with another key-encryption key');
  }
}
