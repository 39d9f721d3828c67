/**
 * What a text that people read in a terminal, a browser or an editor must not hold: every control but the newline (so no carriage return
 * and no terminal escape), line and paragraph separators, marks that turn or hide text, and the byte order mark.
 */
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/;

/** The index of the first line, from 0, that holds such a character; -1 when there is none. */
export function unsafeLine(text: string): number {
  const at = text.search(UNSAFE);
  return at === -1 ? -1 : text.slice(0, at).split('\n').length - 1;
}
