import { z } from 'zod';

/**
 * The wire format of `/v1`, a file per resource: what the server validates with, what clients compile against and what
 * `/openapi.json` is made of. Times are RFC 3339 with offset, money is integer minor units, ids are opaque text. Unknown
 * fields in a request are refused. A schema with an `id` is a component of the API document under that name.
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
  .refine(isExistingDay, 'must be an existing day')
  .meta({ format: 'date-time' });

/** A time in an answer: UTC with milliseconds. */
export const instant = z.string().meta({ format: 'date-time' });

export const id = z.string().min(1).max(64);

/** Free text; how long it may be is a setting (`limits.reasonBytesMax`). */
export const words = z.string().min(1);

/** A client's name for its command: the same id is the same command. */
export const commandId = z
  .string()
  .regex(/^[\x21-\x7e]{1,255}$/, 'must be 1 to 255 visible ASCII characters')
  .describe("The client's name for this command: sent again it is the same command, not a second one.")
  .optional();

export const reason = words.describe('Why, in the words of whoever asks. Recorded.').optional();

/** The consent digest that the approval showed. */
export const consentDigest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, 'must be the digest the approval shows')
  .describe('The `digest` that the approval showed: consent is to exactly that.');

export const verdict = z.enum(['allow', 'deny']);

/** Of a page. */
export const pageLimit = z.coerce
  .number()
  .int()
  .min(1)
  .max(200)
  .describe('The most items to answer with; a setting may make it fewer.')
  .optional();

export const pageCursor = z.string().min(1).max(512).describe('`nextCursor` of the page before.').optional();

export const nextCursor = z.string().nullable().describe('Send it as `cursor` for the next page; null at the end.');

/** Paths of related resources by name, for example `self`. */
export const links = z.record(z.string(), z.string()).describe('Paths of related resources, by what they are.');

/** Who asked: the person, and the agent that acts for them. */
export const requester = z.strictObject({ sub: z.string(), act: z.string().nullable() }).meta({
  id: 'Requester',
  description: 'On whose behalf (`sub`), and the agent that acts for them (`act`).',
});
