import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { originalOffset, viewsOf } from './text-view.js';

function readings(text: string): readonly string[] {
  return viewsOf(text).map((view) => view.text);
}

describe('viewsOf', () => {
  it('has the text alone when nothing in it is escaped', () => {
    expect(readings('plain text, 100 %')).toEqual(['plain text, 100 %']);
  });

  it('undoes JSON escapes and percent-encoding, each alone and both together', () => {
    expect(readings('\\u0041%42')).toEqual(['\\u0041%42', 'A%42', '\\u0041B', 'AB']);
    expect(readings('%C3%A9%F0%9F%8E%89')).toContain('é🎉');
  });

  it('follows nested escapes three layers deep and no further', () => {
    expect(readings('%252541')).toEqual(['%252541', '%2541', '%41', 'A']);
    expect(readings('%25252541')).not.toContain('A');
  });

  it('survives bytes that are no UTF-8 and escapes that are none', () => {
    expect(readings('%ff%fe%C3')).toContain('\ufffd\ufffd\ufffd');
    expect(readings('%4 %zz \\x \\u12')).toEqual(['%4 %zz \\x \\u12']);
  });

  it('knows where each unit came from', () => {
    const view = viewsOf('a%2541b').at(-1);
    if (view === undefined) throw new Error('no view');
    expect(view.text).toBe('aAb');
    expect([0, 1, 2, 3].map((index) => originalOffset(view, index))).toEqual([0, 1, 6, 7]);
  });

  it('has offsets that never run backwards and end where the text ends', () => {
    const piece = fc.constantFrom('\\', 'u0041', '%', '41', '%C3%A9', 'x', '\\n', '"', '%25', '🎉');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 20 }).map((pieces) => pieces.join('')),
        (text) => {
          for (const view of viewsOf(text)) {
            const offsets = Array.from({ length: view.text.length + 1 }, (_, index) => originalOffset(view, index));
            expect(offsets).toEqual(offsets.toSorted((left, right) => left - right));
            expect(offsets.at(-1)).toBe(text.length);
          }
        },
      ),
    );
  });
});
