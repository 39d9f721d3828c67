import { createPrivateKey } from 'node:crypto';
import { ed25519Signer, type NoteSigner } from '../../src/ledger/core/notes/note-signing.js';
import type { KeyType } from '../../src/ledger/core/notes/verifier-key.js';

/** RFC 8410: what stands in front of a raw Ed25519 seed in PKCS#8. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');

/** The signer of a seed that is this byte thirty-two times: the same key in every run and in every language. */
export function testSigner(name: string, seedByte: number, type: KeyType = 'ed25519'): NoteSigner {
  const key = Buffer.concat([PKCS8_PREFIX, Buffer.alloc(32, seedByte)]);
  return ed25519Signer(name, createPrivateKey({ key, format: 'der', type: 'pkcs8' }), type);
}

export const ORIGIN = 'ledger.example/acme';
export const LOG = testSigner(ORIGIN, 1);
export const STRANGER = testSigner(ORIGIN, 2);
export const WITNESS = testSigner('witness.example/w1', 3, 'cosignature/v1');
