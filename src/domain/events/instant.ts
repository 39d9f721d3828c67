/** RFC 3339 section 5.6 with a mandatory offset: a time without a zone would mean something else on another host. */
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Milliseconds since 1970 of an ISO 8601 time with offset. Throws a plain `Error` on anything else: surfaces refuse
 * such a time before it becomes a fact.
 */
export function millisOf(time: string): number {
  const millis = RFC_3339.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(millis)) throw new Error('not an RFC 3339 time with an offset');
  return millis;
}

/** The one form in which we write times: UTC with milliseconds, so that text order is time order. */
export function timeAt(millis: number): string {
  return new Date(millis).toISOString();
}

/** True strictly before the deadline; at the deadline it is too late. */
export function isBefore(time: string, deadline: string): boolean {
  return millisOf(time) < millisOf(deadline);
}

/** The earlier of two times, in the form of `timeAt`. */
export function earlierOf(left: string, right: string): string {
  return timeAt(Math.min(millisOf(left), millisOf(right)));
}
