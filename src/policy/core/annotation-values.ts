import { escapeForDisplay } from '../../domain/text/escape-text.js';

/** The value an annotation means, or one sentence about what is wrong with its text. */
export type AnnotationValue<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

const REASON_UNITS_MAX = 500;
const POLICY_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

const good = <T>(value: T): AnnotationValue<T> => ({ ok: true, value });
const bad = (message: string): AnnotationValue<never> => ({ ok: false, message });

/** An id stands in records, error lists and URLs, so it is plain. */
export function readPolicyId(text: string): AnnotationValue<string> {
  return POLICY_ID.test(text)
    ? good(text)
    : bad('must be 1 to 64 letters, digits, ".", "_" or "-", starting with a letter or digit');
}

/** A whole number in decimal digits without sign, spaces or leading zeros. */
export function readWholeNumber(text: string, min: number, max: number): AnnotationValue<number> {
  const value = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? good(value) : bad(`must be a whole number from ${min} to ${max}`);
}

/** Seconds in the policy, milliseconds everywhere else. */
export function readSeconds(text: string, minSeconds: number, maxSeconds: number): AnnotationValue<number> {
  const seconds = readWholeNumber(text, minSeconds, maxSeconds);
  return seconds.ok ? good(seconds.value * 1000) : bad(`must be whole seconds from ${minSeconds} to ${maxSeconds}`);
}

export function readTruth(text: string): AnnotationValue<boolean> {
  if (text === 'true') return good(true);
  return text === 'false' ? good(false) : bad('must be "true" or "false"');
}

export function readWord(text: string, words: readonly string[]): AnnotationValue<string> {
  return words.includes(text)
    ? good(text)
    : bad(`must be one of ${words.map((word) => `"${word}"`).join(', ') || 'none'}`);
}

/** Text that is shown to the model and to approvers: nothing in it may be hidden from the eye. */
export function readReason(text: string): AnnotationValue<string> {
  if (text.trim() === '' || text.length > REASON_UNITS_MAX) return bad(`must hold 1 to ${REASON_UNITS_MAX} characters`);
  return escapeForDisplay(text) === text ? good(text) : bad('must not hold control or hidden characters');
}
