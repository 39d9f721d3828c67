import { createPublicKey, sign, type KeyObject } from 'node:crypto';
import { assertText, formatNote, type NoteSignature, type SignedNote } from './signed-note.js';
import { verifierKey, verifies, type KeyType, type VerifierKey } from './verifier-key.js';

/** Whoever holds the private key. `sign` is pure Ed25519 (RFC 8032): 64 bytes. */
export interface NoteSigner {
  readonly key: VerifierKey;
  sign(message: Uint8Array): Uint8Array;
}

const UTF8 = new TextEncoder();

/** A signer over a key in memory. Throws a plain `Error` for a key that is not Ed25519. */
export function ed25519Signer(name: string, privateKey: KeyObject, type: KeyType = 'ed25519'): NoteSigner {
  if (privateKey.asymmetricKeyType !== 'ed25519') throw new Error('notes are signed with Ed25519');
  const spki = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const key = verifierKey(name, type, new Uint8Array(spki.subarray(-32)));
  return { key, sign: (message) => new Uint8Array(sign(null, message, privateKey)) };
}

/** The text with one signature of each signer, in their order. */
export function signNote(text: string, signers: readonly NoteSigner[]): string {
  assertText(text);
  return formatNote({ text, signatures: signers.map((signer) => signatureOf(text, signer)) });
}

export function signatureOf(text: string, { key, sign }: NoteSigner): NoteSignature {
  return { name: key.name, keyId: key.keyId, signature: sign(UTF8.encode(text)) };
}

/** The C2SP cosignature: what the witness signs, and the signature with the time in front. Seconds since 1970. */
export function cosignatureOf(text: string, signer: NoteSigner, timeSeconds: number): NoteSignature {
  if (signer.key.type !== 'cosignature/v1') throw new Error('a cosignature is made by the key of a witness');
  const signature = new Uint8Array(TIME_BYTES + 64);
  new DataView(signature.buffer).setBigUint64(0, BigInt(timeSeconds));
  signature.set(signer.sign(cosignedMessage(text, timeSeconds)), TIME_BYTES);
  return { name: signer.key.name, keyId: signer.key.keyId, signature };
}

const TIME_BYTES = 8;
/** The last second of the year 9999: no witness has a later clock, and every tool can write it. */
const TIME_MAX_SECONDS = 253_402_300_799n;

function cosignedMessage(text: string, timeSeconds: number): Uint8Array {
  return UTF8.encode(`cosignature/v1\ntime ${timeSeconds}\n${text}`);
}

/** A signature that was made by this key over this text. `timeSeconds` is null where the type has no time. */
export interface VerifiedSignature {
  readonly key: VerifierKey;
  readonly timeSeconds: number | null;
}

export interface NoteVerdict {
  /** One per key at most; a repeated signature counts once. */
  readonly verified: readonly VerifiedSignature[];
  /** Keys of ours whose signature does not verify: the note is to be refused. */
  readonly invalid: readonly VerifierKey[];
  /** Signature lines of keys that are not ours: they say nothing, and C2SP has them ignored. */
  readonly unknown: readonly NoteSignature[];
}

/** Every signature of the note against the keys that are trusted. */
export function verifyNote({ text, signatures }: SignedNote, keys: readonly VerifierKey[]): NoteVerdict {
  const verified: VerifiedSignature[] = [];
  const invalid: VerifierKey[] = [];
  const unknown: NoteSignature[] = [];
  const message = UTF8.encode(text);
  for (const signature of signatures) {
    const key = keys.find(({ name, keyId }) => name === signature.name && keyId === signature.keyId);
    if (key === undefined) {
      unknown.push(signature);
      continue;
    }
    const timeSeconds = verifiedTime(key, text, message, signature.signature);
    if (timeSeconds === undefined) invalid.push(key);
    else if (!verified.some((other) => other.key === key)) verified.push({ key, timeSeconds });
  }
  return { verified, invalid, unknown };
}

/** `undefined` when the signature is not the key's. */
function verifiedTime(
  key: VerifierKey,
  text: string,
  message: Uint8Array,
  signature: Uint8Array,
): number | null | undefined {
  switch (key.type) {
    case 'ed25519':
      return verifies(key, message, signature) ? null : undefined;
    case 'cosignature/v1': {
      if (signature.length !== TIME_BYTES + 64) return undefined;
      const time = new DataView(signature.buffer, signature.byteOffset).getBigUint64(0);
      if (time > TIME_MAX_SECONDS) return undefined;
      const timeSeconds = Number(time);
      const isMade = verifies(key, cosignedMessage(text, timeSeconds), signature.subarray(TIME_BYTES));
      return isMade ? timeSeconds : undefined;
    }
  }
}
