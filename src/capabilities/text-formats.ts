const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** RFC 3339 section 5.6; upper-case `T` and `Z`, at most nine digits of fraction. */
const DATE_TIME =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** RFC 9562 section 4, any version. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

const ATOM = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+$/;
const LABEL = /^[A-Za-z0-9-]{1,63}$/;

const URI_SCHEME = /^[A-Za-z][A-Za-z0-9+.-]{0,31}:/;
/** The characters of RFC 3986 section 2, each percent sign with its two digits. */
const URI_CHARACTERS = /^(?:[A-Za-z0-9._~:/?#[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+$/;

/**
 * The values of `format` a schema may use, each with a check whose time is linear in the text and without side effects. Leap seconds
 * are refused, `email` is the dot-atom form of RFC 5321 (no quoted local part, no address literal), `uri` needs a scheme.
 */
export const TEXT_FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isDate,
  'date-time': (text) => isDate(DATE_TIME.exec(text)?.[1] ?? ''),
  uuid: (text) => UUID.test(text),
  email: isEmail,
  uri: (text) => text.length <= 8_192 && URI_SCHEME.test(text) && URI_CHARACTERS.test(text) && URL.canParse(text),
};

/** RFC 3339 `full-date` that the calendar has. */
function isDate(text: string): boolean {
  const parts = DATE.exec(text);
  if (parts === null) return false;
  const [year, month, day] = parts.slice(1).map(Number) as [number, number, number];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function isEmail(text: string): boolean {
  if (text.length > 254) return false;
  const [local = '', domain = '', ...more] = text.split('@');
  if (more.length > 0 || local.length > 64 || !local.split('.').every((atom) => ATOM.test(atom))) return false;
  const labels = domain.split('.');
  return (
    labels.length > 1 && labels.every((label) => LABEL.test(label) && !label.startsWith('-') && !label.endsWith('-'))
  );
}
