import type { JsonObject } from '../json/json-value.js';
import { truncateText } from '../text/truncate-text.js';
import { textIn } from './fact-reading.js';
import type { LastError } from './session-state.js';

const MESSAGE_UNITS_MAX = 500;

/** Forms in which credentials turn up in the messages of providers. */
const CREDENTIALS: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer|basic)\s+[\w.~+/=-]{6,}/giu, '$1 [redacted]'],
  [/\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/gu, '[redacted]'],
  [/\b(?:sk|pk|rk|ghp|gho|xox[abp]|AKIA)[-_A-Za-z0-9]{12,}/gu, '[redacted]'],
  [/:\/\/[^\s/@]{1,200}@/gu, '://[redacted]@'],
  [
    /\b([\w-]{0,40}(?:token|secret|password|passwd|api[-_]?key|authorization)["']?\s{0,4}[:=]\s{0,4}["']?)[^\s"',;&]{1,500}/giu,
    '$1[redacted]',
  ],
];

/** An error message without what looks like a credential, cut to a length that a state can hold. */
export function redactedMessage(message: string): string {
  const { text } = truncateText(message, MESSAGE_UNITS_MAX * 4);
  const masked = CREDENTIALS.reduce((masking, [pattern, by]) => masking.replace(pattern, by), text);
  return truncateText(masked, MESSAGE_UNITS_MAX).text;
}

/** `{layer, code, message, retryability}` of an event, with the message redacted once more. */
export function lastErrorOf(payload: JsonObject): LastError {
  return {
    layer: textIn(payload, 'layer') ?? 'unknown',
    code: textIn(payload, 'code') ?? 'unknown',
    message: redactedMessage(textIn(payload, 'message') ?? ''),
    retryability: textIn(payload, 'retryability') ?? 'never',
  };
}
