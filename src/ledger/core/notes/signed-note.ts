import { isWellFormed } from '../../../domain/text/well-formed.js';
import { fromBase64, toBase64 } from './base64.js';
import { isKeyName } from './verifier-key.js';

/** One signature line of a note: whose it says it is, and the bytes behind the key id. */
export interface NoteSignature {
  readonly name: string;
  readonly keyId: number;
  readonly signature: Uint8Array;
}

/** C2SP signed-note. `text` ends in a newline and is what is signed. */
export interface SignedNote {
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** C2SP asks for at least 16; as many as the reference implementation reads. */
export const SIGNATURES_MAX = 100;
const MARK = '\u2014 ';
const KEY_ID_BYTES = 4;
const CONTROL = /[\u0000-\u0009\u000b-\u001f]/;

/** Null for everything that is not a signed note, whoever signed it. Strict: what it reads, `formatNote` writes again. */
export function parseNote(note: string): SignedNote | null {
  if (CONTROL.test(note) || !isWellFormed(note)) return null;
  const split = note.lastIndexOf('\n\n');
  if (split === -1 || !note.endsWith('\n') || split + 2 >= note.length) return null;
  const lines = note.slice(split + 2, -1).split('\n');
  if (lines.length > SIGNATURES_MAX) return null;
  const signatures = lines.map(parseSignature);
  if (signatures.includes(null)) return null;
  return { text: note.slice(0, split + 1), signatures: signatures as NoteSignature[] };
}

function parseSignature(line: string): NoteSignature | null {
  if (!line.startsWith(MARK)) return null;
  const [name, text, ...more] = line.slice(MARK.length).split(' ');
  if (name === undefined || text === undefined || more.length > 0 || !isKeyName(name)) return null;
  const bytes = fromBase64(text);
  if (bytes === null || bytes.length <= KEY_ID_BYTES) return null;
  const keyId = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0);
  return { name, keyId, signature: bytes.subarray(KEY_ID_BYTES) };
}

/** Throws a plain `Error` for a text that no note can hold, and for a note without a signature. */
export function formatNote({ text, signatures }: SignedNote): string {
  assertText(text);
  if (signatures.length === 0 || signatures.length > SIGNATURES_MAX) throw new Error('a note has 1 to 100 signatures');
  return `${text}\n${signatures.map(signatureLine).join('')}`;
}

export function signatureLine({ name, keyId, signature }: NoteSignature): string {
  if (!isKeyName(name)) throw new Error('not the name of a key');
  const bytes = new Uint8Array(KEY_ID_BYTES + signature.length);
  new DataView(bytes.buffer).setUint32(0, keyId);
  bytes.set(signature, KEY_ID_BYTES);
  return `${MARK}${name} ${toBase64(bytes)}\n`;
}

export function assertText(text: string): void {
  if (!text.endsWith('\n') || text === '\n') throw new Error('the text of a note ends in a newline');
  if (CONTROL.test(text) || !isWellFormed(text)) throw new Error('the text of a note has no control characters');
}
