import { isIP } from 'node:net';

/** Where a request goes, after normalisation by the URL standard. */
export interface RequestTarget {
  /** Scheme, host and port as the URL standard serialises them, without a trailing dot on the host. */
  readonly origin: string;
  /** Never with brackets. */
  readonly hostname: string;
  /** The host when it is an IP address in canonical spelling, otherwise null: it still has to be resolved. */
  readonly literalAddress: string | null;
  /** What stands in the request line: path and query. */
  readonly path: string;
}

export type TargetProblem = 'url_invalid' | 'url_userinfo' | 'url_host' | 'url_path' | 'url_fragment';

export type ParsedTarget =
  { readonly ok: true; readonly target: RequestTarget } | { readonly ok: false; readonly problem: TargetProblem };

const URL_CHARACTERS_MAX = 8_192;

/** The URL parser drops tabs and line ends and turns a backslash into a slash: what was approved would not be what is sent. */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNPRINTABLE_OR_BACKSLASH = /[\u0000-\u0020\u007f\\]/;

const PARTS = /^https?:\/\/([^/?#]*)([^?#]*)/i;

/** Names and addresses in plain ASCII. Other scripts must be written as `xn--`, so that a look-alike is seen by whoever reads it. */
const AUTHORITY = /^(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/;

const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/**
 * Reads an absolute `http` or `https` URL strictly. Refused: user and password, hosts with percent-encoding, zone id, non-ASCII
 * characters or empty labels, dot segments in the path (they would make another path of it), fragments, controls, white space.
 * A host in decimal, octal or hexadecimal notation becomes the address it stands for (URL standard, "IPv4 parser").
 */
export function parseRequestTarget(text: string): ParsedTarget {
  if (text.length > URL_CHARACTERS_MAX || UNPRINTABLE_OR_BACKSLASH.test(text)) return refused('url_invalid');
  const parts = PARTS.exec(text);
  if (parts === null) return refused('url_invalid');
  const [, authority = '', path = ''] = parts;
  if (authority.includes('@')) return refused('url_userinfo');
  if (!AUTHORITY.test(authority)) return refused('url_host');
  if (path.split('/').some((segment) => DOT_SEGMENT.test(segment))) return refused('url_path');
  if (text.includes('#')) return refused('url_fragment');
  return normalised(text);
}

function normalised(text: string): ParsedTarget {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || url.port === '0') return refused('url_host');
  const host = url.hostname.replace(/\.$/, '');
  const hostname = host.replace(/^\[|\]$/g, '');
  if (host.split('.').includes('')) return refused('url_host');
  return {
    ok: true,
    target: {
      origin: `${url.protocol}//${host}${url.port === '' ? '' : `:${url.port}`}`,
      hostname,
      literalAddress: isIP(hostname) === 0 ? null : hostname,
      path: `${url.pathname}${url.search}`,
    },
  };
}

function refused(problem: TargetProblem): ParsedTarget {
  return { ok: false, problem };
}
