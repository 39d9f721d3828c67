import { createHash } from 'node:crypto';

export const SESSION_ID_UNITS_MAX = 200;
const SHOWN_UNITS = 8;

const ALLOWED = /^[A-Za-z0-9_.-]$/;
const PLAIN_TENANT = /^[a-z0-9][a-z0-9_-]{0,63}$/;
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;

/**
 * Why a text is no session id: one sentence, or null. An id is data from outside: it is never part of a path, it only has a
 * safe name.
 */
export function sessionIdProblem(id: unknown): string | null {
  if (typeof id !== 'string' || id === '') return 'a session id is a text that is not empty';
  if (id.length > SESSION_ID_UNITS_MAX) return `a session id has at most ${SESSION_ID_UNITS_MAX} characters`;
  if (id.includes('..') || id.includes('/') || id.includes('\\') || id.includes('\0')) {
    return 'a session id holds no separators, no two dots in a row and no NUL';
  }
  const name = cleaned(id);
  return name === '.' || name === '..' || name === '' ? 'a session id is not a name of a directory' : null;
}

/** Ids that a caller may give to a new session: no control characters, so that no two look alike in a list. */
export function newSessionIdProblem(id: unknown): string | null {
  const problem = sessionIdProblem(id);
  if (problem !== null) return problem;
  return CONTROL.test(id as string) ? 'a session id holds no control characters' : null;
}

/**
 * What artefacts of the session are called: ASCII letters, digits, `-`, `_` and `.`, one character per code unit. Two ids may
 * have one name; whoever stores under it keeps the id beside it and compares. Throws a plain `Error` for what is no id.
 */
export function safeSessionName(id: string): string {
  const problem = sessionIdProblem(id);
  if (problem !== null) throw new Error(problem);
  return cleaned(id);
}

/** What the directory of a tenant is called; no two tenants have the same, on any file system. */
export function safeTenantName(tenant: string): string {
  if (PLAIN_TENANT.test(tenant)) return tenant;
  return `~${createHash('sha256').update(tenant).digest('hex').slice(0, 32)}`;
}

/** For logs and messages: at most eight characters of an id. */
export function shownSessionId(id: string): string {
  return id.length <= SHOWN_UNITS ? id : `${id.slice(0, SHOWN_UNITS)}...`;
}

function cleaned(id: string): string {
  let name = '';
  for (let at = 0; at < id.length; at += 1) {
    const unit = id.charAt(at);
    name += ALLOWED.test(unit) ? unit : '_';
  }
  return name;
}
