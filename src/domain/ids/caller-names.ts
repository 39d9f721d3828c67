/** Longest label of a caller: `Run-Id` and `_meta["countersign/run"]` (1 to 128 visible ASCII characters). */
export const CALLER_LABEL_LENGTH_MAX = 128;
export const IDEMPOTENCY_KEY_LENGTH_MAX = 255;

export interface CallerNameProblem {
  readonly reason: 'empty' | 'too_long' | 'not_visible_ascii';
  /** One sentence for the caller; never holds the text itself. */
  readonly message: string;
}

/**
 * Null when the text may be a caller's label. Nothing is trimmed, folded or replaced: two labels are the same or they
 * differ.
 */
export function checkCallerLabel(text: string): CallerNameProblem | null {
  return checkVisibleAscii(text, CALLER_LABEL_LENGTH_MAX);
}

/** Null when the text may be an `Idempotency-Key`. */
export function checkIdempotencyKey(text: string): CallerNameProblem | null {
  return checkVisibleAscii(text, IDEMPOTENCY_KEY_LENGTH_MAX);
}

function checkVisibleAscii(text: string, lengthMax: number): CallerNameProblem | null {
  if (text.length === 0) return { reason: 'empty', message: 'Must not be empty.' };
  if (text.length > lengthMax) return { reason: 'too_long', message: `Must be at most ${lengthMax} characters long.` };
  if (/[^\x21-\x7e]/.test(text)) {
    return {
      reason: 'not_visible_ascii',
      message: 'Must consist of visible ASCII characters only (U+0021 to U+007E), without spaces.',
    };
  }
  return null;
}
