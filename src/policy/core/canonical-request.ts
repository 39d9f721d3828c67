import { createHash } from 'node:crypto';
import { canonicalJson } from '../../domain/json/canonical-json.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import type { PolicyRequest } from './policy-types.js';

/** One text and its digest: the engine judges exactly the bytes that were digested. */
export interface CanonicalRequest {
  readonly text: string;
  /** `sha256:` and 64 hexadecimal digits, over the UTF-8 bytes of `text`. */
  readonly digest: string;
}

/** RFC 8785 text of the request. Throws a plain `Error`, without any value, when something in the request is not JSON. */
export function canonicalRequest(request: PolicyRequest): CanonicalRequest {
  const text = canonicalJson(request as unknown as JsonValue);
  return { text, digest: digestOfText(text) };
}

/** `sha256:` and the hexadecimal digest of the UTF-8 bytes of a text. */
export function digestOfText(text: string): string {
  return `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
}
