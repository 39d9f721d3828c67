/**
 * In `multi-line` newline and tab keep their effect; in `single-line` they are shown like every other hidden character.
 */
export type DisplayMode = 'single-line' | 'multi-line';

/**
 * What a person could overlook or be misled by: controls (C0, DEL, C1, so every terminal escape), format characters
 * (zero-width, bidirectional, soft hyphen, tags, annotations), variation selectors and fillers
 * (`Default_Ignorable_Code_Point`), line and paragraph separators, every space but U+0020, the blank U+2800, private
 * use, unassigned code points, and half surrogate pairs. The third alternative is a backslash that would make ordinary
 * text look like one of our escapes.
 */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}|\\(?=u\{)/gu;

/**
 * Text as it may be shown to somebody who decides by it: each hidden character as `\u{XXXX}` (upper-case hexadecimal,
 * at least four digits), everything else unchanged. Different texts never look the same: a backslash in front of `u{`
 * is itself shown as `\u{005C}`. For display only; digests are over the original. Which code points count as unassigned
 * depends on the Unicode version of the runtime. The result is not HTML: pass it through `escapeHtml` for that.
 */
export function escapeForDisplay(text: string, mode: DisplayMode = 'single-line'): string {
  return text.replace(HIDDEN, (character) => {
    if (mode === 'multi-line' && (character === '\n' || character === '\t')) return character;
    const hexadecimal = (character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0');
    return `\\u{${hexadecimal}}`;
  });
}

const HTML_ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text for HTML element content and for attribute values in either kind of quotes. Not for scripts, styles or URLs. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => HTML_ESCAPES[character] as string);
}
