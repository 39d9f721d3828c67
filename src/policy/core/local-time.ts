import type { LocalTime } from './facts.js';

const FORMATS = new Map<string, Intl.DateTimeFormat>();
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];

/** The wall clock of an IANA time zone at a moment, daylight saving time included. Throws `RangeError` for an unknown zone. */
export function localTime(timeZone: string, nowMs: number): LocalTime {
  const parts = formatOf(timeZone).formatToParts(nowMs);
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.find((each) => each.type === type)?.value ?? '';
  return {
    hour: Number(part('hour')),
    minute: Number(part('minute')),
    weekday: WEEKDAYS.indexOf(part('weekday')) + 1,
    dayOfMonth: Number(part('day')),
    month: Number(part('month')),
  };
}

/** Making a format costs far more than using it, and an installation has one zone. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  const known = FORMATS.get(timeZone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    day: 'numeric',
    month: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  FORMATS.set(timeZone, format);
  return format;
}
