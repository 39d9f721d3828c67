import { parseRequestTarget } from '../egress/request-target.js';
import type { TargetProblem } from '../egress/request-target.js';

const UPSTREAM = /^upstream:([A-Za-z][A-Za-z0-9_-]{0,63})$/;

export type BaseUrl = { readonly ok: true; readonly url: string } | { readonly ok: false; readonly message: string };

const MESSAGES: Readonly<Record<TargetProblem, string>> = {
  url_invalid: 'must be an absolute http or https URL, or `upstream:NAME`',
  url_userinfo: 'must not hold a user or password: name a credential instead',
  url_host: 'must have a host in plain ASCII, without percent-encoding and empty labels',
  url_path: 'must not have dot segments in its path',
  url_fragment: 'must not have a fragment',
};

/**
 * The base URL as every request of the connector will begin: origin and path in the spelling of the URL standard, without a trailing slash.
 * `upstream:NAME` is looked up in the settings, where each installation says where the tool lives.
 */
export function resolveBaseUrl(text: string, upstreams: Readonly<Record<string, string>>): BaseUrl {
  const name = UPSTREAM.exec(text)?.[1];
  if (name === undefined) return normalised(text);
  if (!Object.hasOwn(upstreams, name)) {
    return { ok: false, message: 'names an upstream that the settings do not list under `upstreams`' };
  }
  const resolved = normalised(upstreams[name] as string);
  return resolved.ok ? resolved : { ok: false, message: `the upstream in the settings ${resolved.message}` };
}

function normalised(text: string): BaseUrl {
  const parsed = parseRequestTarget(text);
  if (!parsed.ok) return { ok: false, message: MESSAGES[parsed.problem] };
  const { origin, path } = parsed.target;
  if (path.includes('?')) return { ok: false, message: 'must not have a query: put it into the request' };
  if (path.includes('%')) return { ok: false, message: 'must not have percent-encoding in its path' };
  if (path.includes('//')) return { ok: false, message: 'must not have empty segments in its path' };
  return { ok: true, url: `${origin}${path.replace(/\/$/, '')}` };
}
