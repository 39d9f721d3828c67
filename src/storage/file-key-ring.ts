import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  rmSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { RandomSource } from '../system/random-source.js';
import { KEK_BYTES, kekIdOf } from './local-key-ring.js';
import { syncDirectory } from './private-files.js';

const ALGORITHM = 'A256GCM';

/**
 * The key-encryption key of the file. With `create` a missing file is made with a random key (mode 0400, synced before it is used):
 * only ever for a new database, because with another key an old one cannot be read. Throws `key_ring_unusable` without it.
 *
 * The file is JSON: `{"kekId", "algorithm": "A256GCM", "key": base64 of 32 bytes, "createdAt"}`.
 */
export function keyEncryptionKey(path: string, create: boolean, random: RandomSource, now: () => number): Uint8Array {
  const text = readIfThere(path);
  if (text !== null) {
    assertPrivate(path);
    return parsed(text);
  }
  if (!create) throw unusable('the key file is missing although the database exists');
  const key = random.bytes(KEK_BYTES);
  writeNew(path, keyFileText(key, new Date(now()).toISOString()));
  return key;
}

/**
 * Makes a key file with a new random key, for a rotation. Answers the id of the key. Throws `key_ring_unusable` when there is a file; a
 * key is never replaced.
 */
export function newKeyFile(path: string, random: RandomSource, now: () => number): string {
  if (existsSync(path)) throw unusable('there is a file of this name; a key is never replaced');
  const key = random.bytes(KEK_BYTES);
  writeNew(path, keyFileText(key, new Date(now()).toISOString()));
  return kekIdOf(key);
}

function keyFileText(key: Uint8Array, createdAt: string): string {
  const content = { kekId: kekIdOf(key), algorithm: ALGORITHM, key: Buffer.from(key).toString('base64'), createdAt };
  return `${JSON.stringify(content)}\n`;
}

function parsed(text: string): Uint8Array {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    throw unusable('the key file is not JSON');
  }
  const { kekId, algorithm, key } = Object(content) as Record<string, unknown>;
  if (algorithm !== ALGORITHM || typeof key !== 'string') throw unusable(`the key file holds no key for ${ALGORITHM}`);
  const bytes = new Uint8Array(Buffer.from(key, 'base64'));
  if (bytes.length !== KEK_BYTES || kekIdOf(bytes) !== kekId) throw unusable('the key in the key file is damaged');
  return bytes;
}

/** Others may read it, or somebody but its owner may put another key in its place. A group may read: mounted secrets are often so. */
const NOT_PRIVATE = 0o027;

function assertPrivate(path: string): void {
  if ((statSync(path).mode & NOT_PRIVATE) === 0) return;
  throw unusable('the key file can be read or replaced by others; chmod 400 it');
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw unusable(`the key file cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

/** Whole or not at all: a key file is never half written, and one that another process made meanwhile is never replaced. */
function writeNew(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.new`;
  rmSync(draft, { force: true });
  const file = openSync(draft, 'wx', 0o400);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  linkSync(draft, path);
  unlinkSync(draft);
  syncDirectory(dirname(path));
}

const unusable = (why: string): CountersignError => new CountersignError('key_ring_unusable', why);
