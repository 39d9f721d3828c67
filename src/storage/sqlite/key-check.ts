import type { Database } from 'better-sqlite3';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { KeyRing } from '../key-ring.js';

/** The fact in `meta` that proves the key: something wrapped that only the right key-encryption key unwraps. */
export const KEY_CHECK = 'key_check';

/** While keys are rewrapped there is one more proof for each key-encryption key that something may be wrapped by. */
const FURTHER = `${KEY_CHECK}/`;

const CONTEXT = 'countersign/key-check';
const KNOWN_BYTES = 32;

interface Proof {
  readonly kekId: string;
  readonly wrapped: string;
}

export function keyCheckValue(keyRing: KeyRing): string {
  const wrapped = keyRing.wrap(new Uint8Array(KNOWN_BYTES), CONTEXT);
  return JSON.stringify({ kekId: keyRing.currentId, wrapped: Buffer.from(wrapped).toString('base64') } satisfies Proof);
}

/** Throws `key_ring_unusable` unless this key ring has every key that something in the database may be wrapped by. */
export function assertRightKey(database: Database, keyRing: KeyRing): void {
  const proofs = proofsIn(database);
  const missing = proofs.flatMap((proof) => (proof !== null && keyRing.ids.includes(proof.kekId) ? [] : [proof]));
  if (proofs.length > 0 && missing.length === 0 && proofs.every((proof) => proof !== null && opens(proof, keyRing))) {
    return;
  }
  const named = missing.flatMap((proof) => (proof === null ? [] : [proof.kekId]));
  const which =
    named.length === 0 ? '' : ` (${named.join(', ')}): name it in storage.previousKeys until all is rewrapped`;
  throw new CountersignError('key_ring_unusable', `the database was written with another key-encryption key${which}`);
}

/** Writes down that things may be wrapped by the current key from now on, before the first one is. */
export function proveCurrentKey(database: Database, keyRing: KeyRing): void {
  if (proofsIn(database).some((proof) => proof?.kekId === keyRing.currentId)) return;
  database
    .prepare('INSERT INTO meta (name, value) VALUES (?, ?)')
    .run(`${FURTHER}${keyRing.currentId}`, keyCheckValue(keyRing));
}

/** Ids of the key-encryption keys besides the current one by which something may still be wrapped. */
export function outstandingKeys(database: Database, keyRing: KeyRing): readonly string[] {
  return proofsIn(database).flatMap((proof) =>
    proof === null || proof.kekId === keyRing.currentId ? [] : [proof.kekId],
  );
}

/** Leaves the proof of the current key alone. Inside a transaction of the caller, who knows that nothing lies under another. */
export function forgetOtherKeys(database: Database, keyRing: KeyRing): void {
  database.prepare('DELETE FROM meta WHERE substr(name, 1, ?) = ?').run(FURTHER.length, FURTHER);
  database.prepare('UPDATE meta SET value = ? WHERE name = ?').run(keyCheckValue(keyRing), KEY_CHECK);
}

function proofsIn(database: Database): readonly (Proof | null)[] {
  const values: unknown[] = database
    .prepare('SELECT value FROM meta WHERE name = ? OR substr(name, 1, ?) = ?')
    .pluck()
    .all(KEY_CHECK, FURTHER.length, FURTHER);
  return values.map(proofOf);
}

function proofOf(value: unknown): Proof | null {
  try {
    const { kekId, wrapped } = JSON.parse(String(value)) as Record<string, unknown>;
    return typeof kekId === 'string' && typeof wrapped === 'string' ? { kekId, wrapped } : null;
  } catch {
    return null;
  }
}

function opens({ kekId, wrapped }: Proof, keyRing: KeyRing): boolean {
  try {
    keyRing.unwrap(kekId, Buffer.from(wrapped, 'base64'), CONTEXT);
    return true;
  } catch {
    return false;
  }
}
