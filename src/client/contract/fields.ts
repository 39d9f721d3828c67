import { z } from 'zod';

/**
 * The wire format of `/v1`, a file per resource: what the server validates with and what clients compile against. Times are
 * RFC 3339 with offset, money is integer minor units, ids are opaque text. Unknown fields in a request are refused.
 */

/** RFC 3339 with an offset, one accepted spelling; anything else is refused whatever the host's time zone. */
const RFC_3339 =
  /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/;

/** February has no 30th, and a parser that makes it the 2nd of March changes what was agreed. */
function isExistingDay(text: string): boolean {
  const [year, month, day] = text.slice(0, 10).split('-').map(Number);
  return day !== undefined && day <= new Date(Date.UTC(year ?? 0, month ?? 0, 0)).getUTCDate();
}

export const timestamp = z
  .string()
  .regex(RFC_3339, 'must be an RFC 3339 time with an offset')
  .refine(isExistingDay, 'must be an existing day');

export const id = z.string().min(1).max(64);

/** Free text; the bound is that of the body. */
export const words = z.string().min(1);

/** A client's name for its command: the same id is the same command. */
export const commandId = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .optional();

/** The consent digest that the approval showed. */
export const consentDigest = z.string().regex(/^sha256:[0-9a-f]{64}$/, 'must be the digest the approval shows');

/** Of a page. The server may give fewer. */
export const pageLimit = z.coerce.number().int().min(1).max(200);

/** `nextCursor` of the page before. */
export const pageCursor = z.string().min(1).max(512);
