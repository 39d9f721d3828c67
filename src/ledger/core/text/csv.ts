import { escapeForDisplay } from '../../../domain/text/escape-text.js';

/** What spreadsheets take for the beginning of a formula, in ASCII and in the full width that some of them fold. */
const FORMULA = /^[=+\-@\uff1d\uff0b\uff0d\uff20|%]/;
const QUOTED = /["',;\s]/;

/**
 * One cell of CSV (RFC 4180). A text that a spreadsheet would run is put behind an apostrophe; hidden characters, line ends and terminal
 * escapes are shown as `\u{…}`, so a cell is always one line. Numbers are written as they are.
 */
export function csvCell(value: string | number | boolean | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const shown = escapeForDisplay(value);
  const neutral = FORMULA.test(shown.trimStart()) ? `'${shown}` : shown;
  return QUOTED.test(neutral) ? `"${neutral.replaceAll('"', '""')}"` : neutral;
}

/** One row with its line end. */
export function csvRow(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}
