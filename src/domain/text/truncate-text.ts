export interface TruncatedText {
  readonly text: string;
  /** True when anything was left out. */
  readonly truncated: boolean;
}

/**
 * The beginning of a text, at most `unitsMax` UTF-16 code units long, and one less where the cut would fall inside a
 * surrogate pair: cutting well-formed text gives well-formed text. Nothing is appended; say that it was cut from
 * `truncated`. Throws a plain `Error` when `unitsMax` is not a whole number of at least 0.
 */
export function truncateText(text: string, unitsMax: number): TruncatedText {
  if (!Number.isSafeInteger(unitsMax) || unitsMax < 0) throw new Error('unitsMax must be a whole number of at least 0');
  if (text.length <= unitsMax) return { text, truncated: false };
  const end = splitsPair(text, unitsMax) ? unitsMax - 1 : unitsMax;
  return { text: text.slice(0, end), truncated: true };
}

function splitsPair(text: string, at: number): boolean {
  return isBetween(text.charCodeAt(at - 1), 0xd800, 0xdbff) && isBetween(text.charCodeAt(at), 0xdc00, 0xdfff);
}

function isBetween(code: number, low: number, high: number): boolean {
  return code >= low && code <= high;
}
