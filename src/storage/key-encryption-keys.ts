import { environmentValue } from '../config/environment.js';
import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { RandomSource } from '../system/random-source.js';
import { keyEncryptionKey } from './file-key-ring.js';
import { KEK_BYTES } from './local-key-ring.js';

export type KeySettings = Pick<Settings['storage'], 'keyFile' | 'keyEnv' | 'previousKeys'>;

const ENVIRONMENT = 'env:';
const FILE = 'file:';

export interface KeyEncryptionKeys {
  readonly current: Uint8Array;
  /** They only unwrap, until everything is rewrapped. */
  readonly previous: readonly Uint8Array[];
}

/**
 * The key-encryption keys of the settings: the current one from `storage.keyEnv` where it is set, else from `storage.keyFile`, and
 * those before it. With `create` a missing key file is made, for a new database only. Throws `key_ring_unusable`.
 */
export function keyEncryptionKeys(
  settings: KeySettings,
  create: boolean,
  random: RandomSource,
  now: () => number,
): KeyEncryptionKeys {
  const { keyFile, keyEnv, previousKeys } = settings;
  const current = keyEnv === null ? keyEncryptionKey(keyFile, create, random, now) : keyOfEnvironment(keyEnv);
  const previous = previousKeys.map((reference) =>
    reference.startsWith(ENVIRONMENT)
      ? keyOfEnvironment(reference.slice(ENVIRONMENT.length))
      : keyEncryptionKey(reference.slice(FILE.length), false, random, now),
  );
  return { current, previous };
}

/** A variable with the base64 of the key: for development, since every child and every dump of a process shows it. */
function keyOfEnvironment(name: string): Uint8Array {
  const text = environmentValue(name);
  if (text === undefined) throw unusable(`the variable ${name} of storage.keyEnv or storage.previousKeys is not set`);
  const key = new Uint8Array(Buffer.from(text, 'base64'));
  if (key.length !== KEK_BYTES) throw unusable(`the variable ${name} does not hold the base64 of ${KEK_BYTES} bytes`);
  return key;
}

const unusable = (why: string): CountersignError => new CountersignError('key_ring_unusable', why);
