import type { AnnotationValue } from './annotation-values.js';
import { readWholeNumber } from './annotation-values.js';

/** What a permit says of the lease of the call it permits. Null: the permit does not say. */
export interface LeaseTerms {
  readonly ttlMs: number | null;
  readonly ttlMsMax: number | null;
  readonly usesMax: number | null;
  readonly scopes: readonly string[] | null;
}

const TTL_SECONDS_MIN = 60;
const TTL_SECONDS_MAX = 300;
const USES_MAX = 1000;
const SCOPES = /^[A-Za-z0-9:._/*-]+(?: [A-Za-z0-9:._/*-]+)*$/;

/** `key=value` pairs joined by `;`: `ttl`, `max_ttl` (seconds, 60 to 300), `max_uses`, `scope` (words joined by one space). */
export function readLeaseTerms(text: string): AnnotationValue<LeaseTerms> {
  const pairs = new Map<string, string>();
  for (const part of text.split(';')) {
    const at = part.indexOf('=');
    const key = part.slice(0, Math.max(at, 0));
    if (!['ttl', 'max_ttl', 'max_uses', 'scope'].includes(key)) {
      return { ok: false, message: 'must be ttl=, max_ttl=, max_uses= and scope= joined by ";"' };
    }
    if (pairs.has(key)) return { ok: false, message: `names ${key} twice` };
    pairs.set(key, part.slice(at + 1));
  }
  return termsFrom(pairs);
}

function termsFrom(pairs: ReadonlyMap<string, string>): AnnotationValue<LeaseTerms> {
  const numbers: Record<string, number | null> = {};
  for (const [key, min, max] of [
    ['ttl', TTL_SECONDS_MIN, TTL_SECONDS_MAX],
    ['max_ttl', TTL_SECONDS_MIN, TTL_SECONDS_MAX],
    ['max_uses', 1, USES_MAX],
  ] as const) {
    const text = pairs.get(key);
    const read = text === undefined ? null : readWholeNumber(text, min, max);
    if (read?.ok === false) return { ok: false, message: `${key} ${read.message}` };
    numbers[key] = read === null ? null : read.value;
  }
  const { ttl = null, max_ttl: ttlMax = null, max_uses: usesMax = null } = numbers;
  if (ttl !== null && ttlMax !== null && ttl > ttlMax) return { ok: false, message: 'ttl is longer than max_ttl' };
  const scope = pairs.get('scope');
  if (scope !== undefined && !SCOPES.test(scope))
    return { ok: false, message: 'scope must be words joined by one space' };
  return {
    ok: true,
    value: {
      ttlMs: ttl === null ? null : ttl * 1000,
      ttlMsMax: ttlMax === null ? null : ttlMax * 1000,
      usesMax,
      scopes: scope === undefined ? null : scope.split(' '),
    },
  };
}

/** All of them at once: the shortest time, the fewest uses, and only the scopes that every one that names any allows. */
export function joinLeaseTerms(terms: readonly LeaseTerms[]): LeaseTerms {
  const named = terms.flatMap(({ scopes }) => (scopes === null ? [] : [scopes]));
  const [first, ...others] = named;
  return {
    ttlMs: least(terms.map(({ ttlMs }) => ttlMs)),
    ttlMsMax: least(terms.map(({ ttlMsMax }) => ttlMsMax)),
    usesMax: least(terms.map(({ usesMax }) => usesMax)),
    scopes: first === undefined ? null : first.filter((scope) => others.every((other) => other.includes(scope))),
  };
}

function least(values: readonly (number | null)[]): number | null {
  const said = values.filter((value) => value !== null);
  return said.length === 0 ? null : Math.min(...said);
}
