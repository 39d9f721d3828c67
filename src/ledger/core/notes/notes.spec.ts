import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LOG, ORIGIN, STRANGER, testSigner, WITNESS } from '../../../../test/builders/evidence-keys.js';
import { checkpointText, openCheckpoint, parseCheckpoint, signCheckpoint, withSignature } from './checkpoint.js';
import { cosignatureOf, ed25519Signer, signNote, verifyNote } from './note-signing.js';
import { formatNote, parseNote, signatureLine } from './signed-note.js';
import {
  formatVerifierKey,
  isKeyName,
  parseVerifierKey,
  verifierKey,
  verifies,
  type VerifierKey,
} from './verifier-key.js';

interface Vectors {
  readonly keys: readonly [string, string];
  readonly seed: string;
  readonly text: string;
  readonly signatures: readonly [string, string];
  readonly badKeys: readonly string[];
  readonly poem: string;
  readonly checkpoint: string;
  readonly cosignatureTime: number;
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../../test/vectors/ledger/notes.json', import.meta.url), 'utf8'),
) as Vectors;
const [peterSignature, enochSignature] = vectors.signatures;

function known(text: string): VerifierKey {
  const key = parseVerifierKey(text);
  if (key === null) throw new Error(`not a key: ${text}`);
  return key;
}

const [peter, enoch] = vectors.keys.map(known) as [VerifierKey, VerifierKey];
const both = `${vectors.text}\n${peterSignature}${enochSignature}`;

describe('a verifier key', () => {
  it.each(vectors.keys)('is read and written: %s', (text) => {
    expect(formatVerifierKey(known(text))).toBe(text);
  });

  it('is none with any character changed or any end cut off', () => {
    const [text] = vectors.keys;
    for (let at = 0; at < text.length; at += 1) {
      const next = String.fromCharCode(text.charCodeAt(at) + 1);
      expect(parseVerifierKey(text.slice(0, at) + next + text.slice(at + 1))).toBeNull();
      expect(parseVerifierKey(text.slice(0, at))).toBeNull();
      if (at > 0) expect(parseVerifierKey(text.slice(at))).toBeNull();
    }
  });

  it.each(vectors.badKeys)('is not of another length or algorithm, though its id is right: %s', (text) => {
    expect(parseVerifierKey(text)).toBeNull();
  });

  it.each(['', 'a b', 'a+b', 'a\u00a0b', 'a\u0085b', 'a\u2028b', 'a\nb', 'a\u007fb', '\ud800'])(
    'has no name %j',
    (name) => {
      expect(isKeyName(name)).toBe(false);
      expect(() => verifierKey(name, 'ed25519', new Uint8Array(32))).toThrow('not the name');
    },
  );

  it('has another id for another type, so a signature of one cannot pass for the other', () => {
    const bytes = LOG.key.publicKey;
    expect(verifierKey('a', 'ed25519', bytes).keyId).not.toBe(verifierKey('a', 'cosignature/v1', bytes).keyId);
    expect(() => verifierKey('a', 'ed25519', new Uint8Array(31))).toThrow('32 bytes');
    expect(verifies(LOG.key, new Uint8Array(1), new Uint8Array(63))).toBe(false);
  });
});

describe('a signed note', () => {
  it('of another implementation verifies, by the keys that are trusted', () => {
    const note = parseNote(both);
    if (note === null) throw new Error('not read');
    expect(note.text).toBe(vectors.text);
    expect(verifyNote(note, [peter, enoch]).verified.map(({ key }) => key)).toEqual([peter, enoch]);
    const one = verifyNote(note, [enoch]);
    expect([one.verified.length, one.invalid.length, one.unknown.map(({ name }) => name)]).toEqual([
      1,
      0,
      ['PeterNeumann'],
    ]);
  });

  it('is written byte for byte as another implementation writes it', () => {
    const seed = Buffer.from(vectors.seed, 'base64').subarray(1);
    const prefix = Buffer.from('302e020100300506032b657004220420', 'hex');
    const key = createPrivateKey({ key: Buffer.concat([prefix, seed]), format: 'der', type: 'pkcs8' });
    const signer = ed25519Signer('PeterNeumann', key);
    expect(formatVerifierKey(signer.key)).toBe(vectors.keys[0]);
    expect(signNote(vectors.text, [signer])).toBe(`${vectors.text}\n${peterSignature}`);
  });

  it('may hold empty lines, as the example of the specification does', () => {
    const note = parseNote(vectors.poem);
    expect(note?.text.endsWith('ed \u00e8 subito sera.\n')).toBe(true);
    expect(note === null ? '' : formatNote(note)).toBe(vectors.poem);
  });

  it.each([
    ['no signature', vectors.text],
    ['an empty block of signatures', `${vectors.text}\n`],
    ['no newline at the end', both.slice(0, -1)],
    ['a control character', `\u0001${both}`],
    ['a tab', both.replace('is ', 'is\t')],
    ['carriage returns', both.replaceAll('\n', '\r\n')],
    ['one carriage return', both.replace('\n', '\r\n')],
    ['half a surrogate pair', `\ud800${both}`],
    ['a name with a space', both.replace('PeterNeumann', 'Peter Neumann')],
    ['another dash', both.replace('\u2014', '-')],
    ['a line that is no signature', `${both}hello\n`],
    ['base64 with stray bits', both.replace('yBwJnAM=', 'yBwJnAN=')],
    ['base64 without padding', both.replace('yBwJnAM=', 'yBwJnAM')],
    ['a signature of no bytes', `${vectors.text}\n\u2014 a AAAAAA==\n`],
    ['too many signatures', `${vectors.text}\n${peterSignature.repeat(101)}`],
  ])('is none with %s', (_, note) => {
    expect(parseNote(note)).toBeNull();
  });

  it('counts a repeated signature once, and a wrong one of a known key against the note', () => {
    const twice = parseNote(`${vectors.text}\n${peterSignature}${peterSignature}`);
    const wrong = parseNote(`${vectors.text.replace('you', 'we')}\n${peterSignature}${enochSignature}`);
    if (twice === null || wrong === null) throw new Error('not read');
    expect(verifyNote(twice, [peter]).verified).toHaveLength(1);
    expect(verifyNote(wrong, [peter])).toMatchObject({ verified: [], invalid: [peter] });
  });

  it('ignores a key of the same name with another id', () => {
    const note = parseNote(signNote('hello\n', [STRANGER]));
    if (note === null) throw new Error('not read');
    expect(verifyNote(note, [LOG.key])).toMatchObject({ verified: [], invalid: [], unknown: [{ name: ORIGIN }] });
  });

  it('is not made of a text that no note can hold', () => {
    for (const text of ['abc', '', '\n', 'a\rb\n', '\ud800\n'])
      expect(() => signNote(text, [LOG])).toThrow('text of a note');
    expect(() => formatNote({ text: 'a\n', signatures: [] })).toThrow('1 to 100');
    expect(() => signatureLine({ name: 'a b', keyId: 1, signature: new Uint8Array(64) })).toThrow('not the name');
    expect(() => ed25519Signer('a', generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)).toThrow('Ed25519');
  });
});

describe('a checkpoint', () => {
  const root = Uint8Array.from({ length: 32 }, (_, at) => at);

  it('of the specification is read, with its cosignature', () => {
    const opened = openCheckpoint(vectors.checkpoint, []);
    expect(opened?.checkpoint).toMatchObject({
      origin: 'example.com/behind-the-sofa',
      size: 20_852_163,
      extensions: [],
    });
    const cosignature = opened?.unknown[1]?.signature ?? new Uint8Array(8);
    expect(cosignature).toHaveLength(72);
    const time = new DataView(cosignature.buffer, cosignature.byteOffset).getBigUint64(0);
    expect(Number(time)).toBe(vectors.cosignatureTime);
  });

  it('reads what it wrote', () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !/[\u0000-\u001f]/.test(text));
    const checkpoints = fc.record({
      origin: line,
      size: fc.maxSafeNat(),
      root: fc.uint8Array({ minLength: 32, maxLength: 32 }),
      extensions: fc.array(line, { maxLength: 2 }),
    });
    fc.assert(
      fc.property(checkpoints, (checkpoint) => {
        expect(parseCheckpoint(checkpointText(checkpoint))).toEqual(checkpoint);
      }),
    );
  });

  it.each([
    ['no newline at the end', 'a\n1\nAAAA'],
    ['two lines', 'a\n1\n'],
    ['an empty origin', `\n1\n${Buffer.from(root).toString('base64')}\n`],
    ['a size with a zero in front', `a\n01\n${Buffer.from(root).toString('base64')}\n`],
    ['a negative size', `a\n-1\n${Buffer.from(root).toString('base64')}\n`],
    ['a size that is not exact', `a\n9007199254740993\n${Buffer.from(root).toString('base64')}\n`],
    ['a short root', 'a\n1\nAAAA\n'],
    ['an empty extension line', `a\n1\n${Buffer.from(root).toString('base64')}\n\n`],
  ])('is none with %s', (_, text) => {
    expect(parseCheckpoint(text)).toBeNull();
  });

  it.each([
    ['an origin of two lines', { origin: 'a\nb' }],
    ['no origin', { origin: '' }],
    ['half a leaf', { size: 0.5 }],
    ['a short root', { root: new Uint8Array(31) }],
    ['an extension with a carriage return', { extensions: ['a\r'] }],
  ])('is not signed with %s', (_, change) => {
    expect(() => signCheckpoint({ origin: 'a', size: 1, root, extensions: [], ...change }, [LOG])).toThrow(
      'not a checkpoint',
    );
  });

  it('carries the cosignature of a witness with its time, which is part of what is signed', () => {
    const note = signCheckpoint({ origin: ORIGIN, size: 5, root, extensions: [] }, [LOG]);
    const text = parseNote(note)?.text ?? '';
    const cosignature = cosignatureOf(text, WITNESS, 1_700_000_000);
    const opened = openCheckpoint(withSignature(note, cosignature), [LOG.key, WITNESS.key]);
    expect(opened?.verified).toEqual([
      { key: LOG.key, timeSeconds: null },
      { key: WITNESS.key, timeSeconds: 1_700_000_000 },
    ]);
    const later = Uint8Array.from(cosignature.signature);
    later[7] = (later[7] as number) ^ 1;
    const moved = openCheckpoint(withSignature(note, { ...cosignature, signature: later }), [WITNESS.key]);
    expect(moved).toMatchObject({ verified: [], invalid: [WITNESS.key] });
    expect(() => cosignatureOf(text, LOG, 1)).toThrow('a witness');
  });

  it('takes no cosignature of a time beyond the calendar, of another length, or made as a plain signature', () => {
    const note = signCheckpoint({ origin: ORIGIN, size: 5, root, extensions: [] }, [LOG]);
    const text = parseNote(note)?.text ?? '';
    const far = cosignatureOf(text, WITNESS, 253_402_300_800);
    const short = { ...far, signature: far.signature.subarray(1) };
    const plain = { ...far, signature: testSigner(WITNESS.key.name, 3).sign(Buffer.from(text)) };
    for (const wrong of [far, short, plain]) {
      expect(openCheckpoint(withSignature(note, wrong), [WITNESS.key])?.invalid).toEqual([WITNESS.key]);
    }
  });
});
