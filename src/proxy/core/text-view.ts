/**
 * A text as it reads after some of its escapes were undone, with the way back: `offsets[i]` is where unit `i` came from in the original,
 * and one entry more says where the original ends. `null` stands for the original itself.
 */
export interface TextView {
  readonly text: string;
  readonly offsets: Uint32Array | null;
}

/** Escapes within escapes beyond this depth, and more readings of one text than this, are not followed. */
const LAYERS_MAX = 3;
const VIEWS_MAX = 8;

const JSON_ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;
const PERCENT_RUN = /(?:%[0-9a-fA-F]{2})+/g;

const SHORT_ESCAPES: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The text itself and every reading of it with JSON string escapes (RFC 8259 section 7) and percent-encoding (RFC 3986) undone. */
export function viewsOf(text: string): readonly TextView[] {
  const views: TextView[] = [{ text, offsets: null }];
  const seen = new Set([text]);
  let layer: readonly TextView[] = views.slice();
  for (let depth = 0; depth < LAYERS_MAX && layer.length > 0; depth += 1) {
    const next: TextView[] = [];
    for (const view of layer) {
      for (const undo of [undoJsonEscapes, undoPercentEncoding]) {
        const undone = undo(view);
        if (undone === null || seen.has(undone.text) || views.length + next.length >= VIEWS_MAX) continue;
        seen.add(undone.text);
        next.push(undone);
      }
    }
    views.push(...next);
    layer = next;
  }
  return views;
}

/** Where unit `index` of the view begins in the original. */
export function originalOffset(view: TextView, index: number): number {
  return view.offsets === null ? index : (view.offsets[index] ?? 0);
}

function undoJsonEscapes(view: TextView): TextView | null {
  if (!view.text.includes('\\')) return null;
  return rewritten(view, JSON_ESCAPE, (match) => {
    const [, hexadecimal, short = ''] = match;
    const unit =
      hexadecimal === undefined ? (SHORT_ESCAPES[short] ?? short) : String.fromCharCode(parseInt(hexadecimal, 16));
    return [{ text: unit, at: 0 }];
  });
}

function undoPercentEncoding(view: TextView): TextView | null {
  if (!view.text.includes('%')) return null;
  return rewritten(view, PERCENT_RUN, ([run]) => {
    const bytes = run
      .slice(1)
      .split('%')
      .map((pair) => parseInt(pair, 16));
    const pieces: Piece[] = [];
    for (let index = 0; index < bytes.length;) {
      const length = Math.min(sequenceLength(bytes[index] ?? 0), bytes.length - index);
      const text = new TextDecoder().decode(Uint8Array.from(bytes.slice(index, index + length)));
      pieces.push({ text, at: index * 3 });
      index += length;
    }
    return pieces;
  });
}

/** Bytes of the UTF-8 sequence that a byte begins (RFC 3629 section 3). */
function sequenceLength(first: number): number {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

interface Piece {
  readonly text: string;
  /** Offset within the match. */
  readonly at: number;
}

function rewritten(
  view: TextView,
  pattern: RegExp,
  replace: (match: RegExpExecArray) => readonly Piece[],
): TextView | null {
  let text = '';
  const offsets: number[] = [];
  let copiedTo = 0;
  const copy = (piece: string, from: number, step: 0 | 1): void => {
    text += piece;
    for (let unit = 0; unit < piece.length; unit += 1) offsets.push(originalOffset(view, from + unit * step));
  };
  for (const match of view.text.matchAll(pattern)) {
    copy(view.text.slice(copiedTo, match.index), copiedTo, 1);
    for (const piece of replace(match)) copy(piece.text, match.index + piece.at, 0);
    copiedTo = match.index + match[0].length;
  }
  if (copiedTo === 0) return null;
  copy(view.text.slice(copiedTo), copiedTo, 1);
  offsets.push(originalOffset(view, view.text.length));
  return { text, offsets: Uint32Array.from(offsets) };
}
