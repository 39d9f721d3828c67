export type HeaderProblem =
  | 'header_name'
  | 'header_value'
  | 'header_forbidden'
  | 'header_needs_credential'
  | 'header_repeated'
  | 'headers_too_large';

export type CheckedHeaders =
  | { readonly ok: true; readonly headers: Readonly<Record<string, string>> }
  | { readonly ok: false; readonly problem: HeaderProblem };

const HEADERS_BYTES_MAX = 32_768;

/** `token`, RFC 9110 section 5.6.2. */
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** `field-value`, RFC 9110 section 5.5: visible characters, space, tab and obs-text; no CR, LF, NUL, other control or wider character. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Names nobody but the transport may set: hop-by-hop fields (RFC 9110 section 7.6.1), whatever frames the message, and the codings,
 * because bodies go out and come in as they are; and the trace context.
 */
const TRANSPORT_OWNED: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'upgrade',
  'http2-settings',
  'te',
  'trailer',
  'trailers',
  'expect',
  'accept-encoding',
  'content-encoding',
  // Where a call stands in a trace is said by the proxy or by nobody.
  'traceparent',
  'tracestate',
]);

const CREDENTIAL_ONLY: ReadonlySet<string> = new Set(['authorization', 'cookie']);

/**
 * Headers of one request as they may be sent, names in lower case. `headers` come from a manifest's template, `credentialHeaders` from a
 * lease or secret: only these may be `authorization` or `cookie`. A name may occur once over both, whatever its case.
 * The problem is a code; it never holds a name or a value.
 */
export function checkHeaders(
  headers: Readonly<Record<string, string>>,
  credentialHeaders: Readonly<Record<string, string>> = {},
): CheckedHeaders {
  const checked = new Map<string, string>();
  const offered = [
    ...Object.entries(headers).map((entry) => ({ entry, isCredential: false })),
    ...Object.entries(credentialHeaders).map((entry) => ({ entry, isCredential: true })),
  ];
  let bytes = 0;
  for (const { entry, isCredential } of offered) {
    const [name, value] = entry;
    const lowerName = name.toLowerCase();
    const problem = problemOf(name, value, isCredential) ?? (checked.has(lowerName) ? 'header_repeated' : null);
    if (problem !== null) return { ok: false, problem };
    // Name, colon, space, value, line end; a checked value has one byte per character.
    bytes += name.length + value.length + 4;
    checked.set(lowerName, value);
  }
  if (bytes > HEADERS_BYTES_MAX) return { ok: false, problem: 'headers_too_large' };
  return { ok: true, headers: Object.fromEntries(checked) };
}

function problemOf(name: string, value: unknown, isCredential: boolean): HeaderProblem | null {
  if (!NAME.test(name)) return 'header_name';
  if (typeof value !== 'string' || !VALUE.test(value)) return 'header_value';
  const lowerName = name.toLowerCase();
  if (TRANSPORT_OWNED.has(lowerName) || lowerName.startsWith('proxy-')) return 'header_forbidden';
  return CREDENTIAL_ONLY.has(lowerName) && !isCredential ? 'header_needs_credential' : null;
}
