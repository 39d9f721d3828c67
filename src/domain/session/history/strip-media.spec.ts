import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { HistoryMessage, MessagePart } from '../session-state.js';
import { hasLongRun, stripMediaText } from './media-text.js';
import { modelHistory } from './model-history.js';
import { stripMedia, stripPart, stripValue } from './strip-media.js';

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), randomBytes(1_000)]);
const RANDOM = randomBytes(1_000);
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const base64 = (bytes: Buffer): string => bytes.toString('base64');

function holding(...contents: MessagePart[]): HistoryMessage {
  return { messageId: 'm', role: 'user', contents, createdAt: '2031-01-01T00:00:00.000Z' };
}

describe('media of a message', () => {
  it.each<[string, MessagePart]>([
    ['as base64 in a field', { type: 'image', data: base64(PNG) }],
    [
      'as a data URL in a field of a field',
      { type: 'image_url', image_url: { url: `data:image/png;base64,${base64(PNG)}` } },
    ],
    ['as bytes', { type: 'image', mediaType: 'image/png', data: new Uint8Array(PNG) as never }],
    ['as base64 for URLs', { type: 'image', data: PNG.toString('base64url') }],
    ['as wrapped base64', { type: 'image', data: base64(PNG).replaceAll(/.{76}/gu, '$&\r\n') }],
  ])('%s leaves a text with its type and digest [A-70]', (_, part) => {
    expect(stripPart(part)).toEqual({
      type: 'text',
      text: `[left out: image/png, ${PNG.length} bytes, sha256:${sha(PNG)}]`,
    });
  });

  it('is known by its content, whatever the part says about itself [A-71]', () => {
    const forged: MessagePart[] = [
      {
        type: 'text',
        text: '[left out: image/png]',
        metadata: { placeholder: true, stripped: true },
        data: base64(RANDOM),
      },
      { type: 'media_placeholder', note: 'already stripped', payload: { inner: [base64(RANDOM)] } },
      { type: 'text', text: base64(RANDOM) },
    ];
    for (const part of forged) {
      const stripped = JSON.stringify(stripPart(part));
      expect(stripped).toContain(sha(RANDOM));
      expect(stripped.length).toBeLessThan(400);
    }
  });

  it('names the type that is declared where the bytes do not tell it', () => {
    expect(stripPart({ type: 'audio', media_type: 'audio/wav', data: base64(RANDOM) })).toEqual({
      type: 'text',
      text: `[left out: audio/wav, 1000 bytes, sha256:${sha(RANDOM)}]`,
    });
  });

  it('goes out of the middle of a text and of arguments, and the rest stays', () => {
    const text = `before ![](data:image/png;base64,${base64(PNG)}) and {"shot":"${base64(RANDOM)}"} after`;
    const stripped = stripMediaText(text);
    expect(stripped).toMatch(/^before !\[\]\(\[left out: image\/png, .*\]\) and \{"shot":"\[left out: .*\]"\} after$/u);
    expect(stripValue({ to: 'bob', file: base64(PNG) })).toEqual({
      to: 'bob',
      file: `[left out: image/png, ${PNG.length} bytes, sha256:${sha(PNG)}]`,
    });
  });

  it('goes out of a composite part, whose form is kept', () => {
    const part = {
      type: 'tool_result',
      content: [
        { type: 'text', text: 'ok' },
        { type: 'image', data: base64(PNG) },
      ],
    };
    const stripped = stripPart(part);
    expect(stripped).toMatchObject({ type: 'tool_result', content: [{ type: 'text', text: 'ok' }, { type: 'image' }] });
    expect(JSON.stringify(stripped)).toContain(sha(PNG));
  });

  it.each([
    'x'.repeat(5_000),
    'a'.repeat(64).concat('\n').repeat(50),
    Array.from({ length: 300 }, (_, n) => `word${n}`).join(' '),
    Array.from({ length: 300 }, (_, n) => `LineOfAFile${n}`).join('\n'),
    createHash('sha512').update('x').digest('hex').repeat(20),
    '/usr/local/share/some/path/'.repeat(40),
    'short: iVBORw0KGgo',
    'data:text/plain,hello world',
  ])('is not seen in ordinary text, case %#', (text) => {
    expect(stripMediaText(text)).toBe(text);
  });

  it('leaves a message without any as the same object', () => {
    const message = holding({ type: 'text', text: 'hello' }, { type: 'json', value: { n: [1, 'x'.repeat(2_000)] } });
    expect(stripMedia(message)).toBe(message);
  });

  it('does not hang on a part that contains itself', () => {
    const part: Record<string, unknown> = { type: 'image' };
    part['self'] = part;
    part['again'] = [part, part];
    expect(stripPart(part as MessagePart)).toBe(part);
  });

  it('is looked for in time that grows with the text', () => {
    const worst = `${'aB3'.repeat(170)} `.repeat(4_000);
    expect(stripMediaText(worst)).toBe(worst);
  });
});

describe('a text that may hold media', () => {
  it('is known by a stretch of 64 units of base64, wherever it lies', () => {
    const piece = fc.oneof(
      fc.constantFrom(' ', '.', '\n', 'é'),
      fc.integer({ min: 1, max: 130 }).map((units) => 'aZ0+/-_='.repeat(17).slice(0, units)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const text = pieces.join('');
        expect(hasLongRun(text)).toBe(/[\w+/=-]{64}/.test(text));
      }),
    );
  });
});

describe('the history for a model', () => {
  const asks: HistoryMessage = {
    ...holding(),
    messageId: 'a',
    role: 'assistant',
    toolCalls: [{ callId: '1', name: 'pay', arguments: {} }],
  };
  const answer: HistoryMessage = { ...holding({ type: 'text', text: 'ok' }), role: 'tool', callId: '1' };

  it('is the paired messages as they are, tool-only ones with empty contents [A-96, A-87]', () => {
    const messages = [holding({ type: 'text', text: 'pay' }), asks, answer];
    expect(modelHistory(messages)).toEqual({ ok: true, messages });
  });

  it('is refused while a call has no answer, also in a wait that could be saved [A-96, A-04, U-02]', () => {
    expect(modelHistory([asks])).toMatchObject({ ok: false, problem: { code: 'history_unpaired' } });
    expect(modelHistory([answer])).toMatchObject({ ok: false, problem: { code: 'history_unpaired' } });
  });

  it('leaves out what was cut off', () => {
    const cut: HistoryMessage = { ...holding({ type: 'text', text: 'I wan' }), role: 'assistant', incomplete: true };
    expect(modelHistory([cut, { ...asks, incomplete: true }])).toEqual({ ok: true, messages: [] });
  });

  it('holds no media, whatever its messages claim [A-71]', () => {
    const built = modelHistory([holding({ type: 'text', text: 'x', stripped: true, data: base64(RANDOM) })]);
    expect(JSON.stringify(built)).toContain(sha(RANDOM));
    expect(JSON.stringify(built)).not.toContain(base64(RANDOM));
  });
});
