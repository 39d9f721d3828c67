import { isWellFormed } from '../../../domain/text/well-formed.js';
import { HASH_BYTES } from '../sha256.js';
import { fromBase64, toBase64 } from './base64.js';
import { signNote, verifyNote, type NoteSigner, type NoteVerdict } from './note-signing.js';
import { parseNote, signatureLine, type NoteSignature } from './signed-note.js';
import type { VerifierKey } from './verifier-key.js';

/** C2SP tlog-checkpoint: how large one log was, and its root then. */
export interface Checkpoint {
  /** The identity of the log. */
  readonly origin: string;
  readonly size: number;
  /** RFC 6962, 32 bytes. */
  readonly root: Uint8Array;
  /** Opaque lines behind the root; we write none. */
  readonly extensions: readonly string[];
}

const SIZE = /^(?:0|[1-9][0-9]{0,15})$/;
const NOT_IN_A_LINE = /[\u0000-\u001f]/;

/** The text that is signed. Throws a plain `Error` for what no checkpoint can say. */
export function checkpointText({ origin, size, root, extensions }: Checkpoint): string {
  const lines = [origin, String(size), toBase64(root), ...extensions];
  const isGood = lines.every((line) => line !== '' && !NOT_IN_A_LINE.test(line) && isWellFormed(line));
  if (!isGood || !SIZE.test(String(size)) || root.length !== HASH_BYTES) throw new Error('not a checkpoint');
  return `${lines.join('\n')}\n`;
}

/** Null for every text but the one `checkpointText` writes for some checkpoint. */
export function parseCheckpoint(text: string): Checkpoint | null {
  if (!text.endsWith('\n')) return null;
  const [origin, size, root64, ...extensions] = text.slice(0, -1).split('\n');
  if (origin === undefined || size === undefined || root64 === undefined) return null;
  if ([origin, ...extensions].some((line) => line === '' || NOT_IN_A_LINE.test(line))) return null;
  const root = fromBase64(root64);
  if (!SIZE.test(size) || !Number.isSafeInteger(Number(size)) || root?.length !== HASH_BYTES) return null;
  return { origin, size: Number(size), root, extensions };
}

export function signCheckpoint(checkpoint: Checkpoint, signers: readonly NoteSigner[]): string {
  return signNote(checkpointText(checkpoint), signers);
}

/** The note with one more signature line, such as the cosignature of a witness. */
export function withSignature(note: string, signature: NoteSignature): string {
  return `${note}${signatureLine(signature)}`;
}

export interface OpenedCheckpoint extends NoteVerdict {
  readonly checkpoint: Checkpoint;
  /** What was signed: what a witness cosigns. */
  readonly text: string;
}

/** A checkpoint in its note with what the trusted keys say to its signatures. Null when it is not one. */
export function openCheckpoint(note: string, keys: readonly VerifierKey[]): OpenedCheckpoint | null {
  const signed = parseNote(note);
  const checkpoint = signed === null ? null : parseCheckpoint(signed.text);
  if (signed === null || checkpoint === null) return null;
  return { ...verifyNote(signed, keys), checkpoint, text: signed.text };
}
