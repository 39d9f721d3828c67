import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import { isJsonObject } from '../../domain/json/json-value.js';
import type { Reservation } from '../../domain/tool-call/tool-call.state.js';
import type { AnnotationValue } from './annotation-values.js';
import { readWholeNumber } from './annotation-values.js';
import { LIMIT_SUBJECTS, type LimitScope, type LimitSubject } from './facts.js';
import type { PolicyRequest } from './policy-types.js';

export const LIMIT_WINDOWS = ['minute', 'hour', 'day', 'week', 'month'] as const;
export type LimitWindow = (typeof LIMIT_WINDOWS)[number];

/** What one `@limit` of a permit says. */
export interface Limit extends LimitScope {
  /** Path of the argument that is added, below `input`; null: each call counts 1. */
  readonly add: readonly string[] | null;
  readonly max: number;
}

/** Counters of limits begin with this; then comes the end of the window, so that ended ones stand in front. */
export const LIMIT_KEY_PREFIX = 'limit/';

const LIMITS_MAX = 8;
const FORM = 'must be counter=, by=, add= and max= joined by ";", and several limits joined by "|"';
const COUNTER = /^[a-z][a-z0-9_-]{0,31}\.(?:minute|hour|day|week|month)$/;
const PATH = /^input(?:\.[A-Za-z][A-Za-z0-9_-]{0,63}){1,8}$/;

/** `counter=spend.day;by=principal,capability;add=input.amountMinor;max=50000`, several joined by `|`. */
export function readLimits(text: string): AnnotationValue<readonly Limit[]> {
  const limits: Limit[] = [];
  for (const part of text.split('|')) {
    const read = readLimit(part);
    if (!read.ok) return read;
    if (limits.some(({ counter }) => counter === read.value.counter)) return bad(`names ${read.value.counter} twice`);
    limits.push(read.value);
  }
  return limits.length > LIMITS_MAX ? bad(`holds more than ${LIMITS_MAX} limits`) : { ok: true, value: limits };
}

function readLimit(text: string): AnnotationValue<Limit> {
  const words = new Map<string, string>();
  for (const pair of text.split(';')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, Math.max(at, 0));
    if (!['counter', 'by', 'add', 'max'].includes(name)) return bad(FORM);
    if (words.has(name)) return bad(`names ${name} twice`);
    words.set(name, pair.slice(at + 1));
  }
  if (words.size < 4) return bad(FORM);
  const [counter = '', by = '', add = '', max = ''] = ['counter', 'by', 'add', 'max'].map((name) => words.get(name));
  if (!COUNTER.test(counter)) return bad(`counter must be a word and one of ${LIMIT_WINDOWS.join(', ')}: spend.day`);
  const subjects = by.split(',');
  const unknown = subjects.some((subject) => !LIMIT_SUBJECTS.includes(subject as LimitSubject));
  if (unknown || new Set(subjects).size < subjects.length) {
    return bad(`by must name some of ${LIMIT_SUBJECTS.join(', ')}, each once`);
  }
  if (add !== '1' && !PATH.test(add)) return bad('add must be 1 or an argument such as input.amountMinor');
  const most = readWholeNumber(max, 0, Number.MAX_SAFE_INTEGER);
  if (!most.ok) return bad('max must be a whole number');
  return {
    ok: true,
    value: {
      counter,
      by: LIMIT_SUBJECTS.filter((subject) => subjects.includes(subject)),
      add: add === '1' ? null : add.split('.').slice(1),
      max: most.value,
    },
  };
}

const bad = (message: string): AnnotationValue<never> => ({ ok: false, message });

/** Of several permits that limit one counter the strictest counts; counters are in the order of their names. */
export function strictestLimits(limits: readonly Limit[]): readonly Limit[] {
  const byCounter = new Map<string, Limit>();
  for (const limit of limits) {
    const known = byCounter.get(limit.counter);
    if (known === undefined || limit.max < known.max) byCounter.set(limit.counter, limit);
  }
  return [...byCounter.values()].toSorted((a, b) => (a.counter < b.counter ? -1 : 1));
}

/** What a call takes of its budgets; null when one of its amounts is nothing that can be counted. */
export function reservationsFor(limits: readonly Limit[], request: PolicyRequest): readonly Reservation[] | null {
  const reservations: Reservation[] = [];
  for (const limit of strictestLimits(limits)) {
    const add = limit.add === null ? 1 : amountAt(request.input, limit.add);
    if (!Number.isSafeInteger(add) || add < 0) return null;
    reservations.push({ key: counterKey(limit, request), add, max: limit.max });
  }
  return reservations;
}

/** An argument that is not there counts 0; one that is no number is NaN. */
function amountAt(input: JsonObject, path: readonly string[]): number {
  let at: JsonValue | undefined = input;
  for (const step of path) {
    if (!isJsonObject(at)) return Number.NaN;
    at = Object.hasOwn(at, step) ? at[step] : undefined;
    if (at === undefined) return 0;
  }
  return typeof at === 'number' ? at : Number.NaN;
}

/** `limit/<end of the window>/<counter>/<whose, as JSON>`; the window is that of the request's own time. */
export function counterKey({ counter, by }: LimitScope, request: PolicyRequest): string {
  const whose = Object.fromEntries(by.map((subject) => [subject, subjectOf(subject, request)]));
  return `${LIMIT_KEY_PREFIX}${windowEnd(windowOf(counter), request.nowMs)}/${counter}/${JSON.stringify(whose)}`;
}

function subjectOf(subject: LimitSubject, request: PolicyRequest): JsonValue {
  switch (subject) {
    case 'tenant':
      return request.tenant;
    case 'principal':
      return [request.sub, request.act ?? null];
    case 'sub':
      return request.sub;
    case 'agent':
      return request.act ?? null;
    case 'capability':
      return request.capability;
    case 'run':
      return request.runId ?? null;
  }
}

const windowOf = (counter: string): LimitWindow => counter.slice(counter.indexOf('.') + 1) as LimitWindow;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** 1970-01-05, a Monday. */
const FIRST_MONDAY_MS = 4 * DAY_MS;

/** ISO 8601: the first moment after the window that holds this one. Windows are of UTC, weeks begin on Monday. */
export function windowEnd(window: LimitWindow, nowMs: number): string {
  const after = (lengthMs: number, originMs = 0): number =>
    (Math.floor((nowMs - originMs) / lengthMs) + 1) * lengthMs + originMs;
  const now = new Date(nowMs);
  const ends: Readonly<Record<LimitWindow, number>> = {
    minute: after(MINUTE_MS),
    hour: after(60 * MINUTE_MS),
    day: after(DAY_MS),
    week: after(7 * DAY_MS, FIRST_MONDAY_MS),
    month: Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1),
  };
  return new Date(ends[window]).toISOString();
}

/** The parts of a key that people and models may be told. */
export function counterOfKey(key: string): { readonly counter: string; readonly until: string } {
  const [, until = '', counter = ''] = key.split('/');
  return { counter, until };
}

/**
 * True when a call holds what a decision wants of it already, whatever window it was reserved in: a call counts in the window it
 * was proposed in, however long people take.
 */
export function isCovered(wanted: readonly Reservation[], held: readonly Reservation[]): boolean {
  const known = new Set(held.map(timeless));
  return wanted.length === held.length && wanted.every((reservation) => known.has(timeless(reservation)));
}

function timeless({ key, add, max }: Reservation): string {
  const from = key.indexOf('/', LIMIT_KEY_PREFIX.length);
  return JSON.stringify([key.slice(from), add, max]);
}

/** Why a budget denies, in words fit for the model: never what others have spent. */
export function budgetReasons(key: string | null): readonly string[] {
  if (key === null) return ['budget_exceeded', 'An amount that a budget counts is not a whole number of 0 or more.'];
  const { counter, until } = counterOfKey(key);
  return ['budget_exceeded', `The budget ${counter} does not allow this call before ${until}.`];
}

/** The key of the counter that a failed guard names; null when it is another guard, or a counter that is no limit. */
export function fullLimit(guard: string): string | null {
  return guard.startsWith(`counter:${LIMIT_KEY_PREFIX}`) ? guard.slice('counter:'.length) : null;
}
