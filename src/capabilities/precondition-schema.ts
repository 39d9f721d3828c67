import { z } from 'zod';
import type { RequestTemplate } from './manifest.js';

/** How long one value may take to read. */
export const PRECONDITION_TIMEOUT_MS_MAX = 10_000;

const NAME = /^[a-z][a-z0-9_]{0,31}$/;

/** The parts of a manifest's schema that this block shares with others. */
interface SharedFields {
  readonly request: z.ZodType<RequestTemplate>;
  readonly jsonPointer: z.ZodType<string>;
  readonly argumentPointer: z.ZodType<string>;
  readonly title: z.ZodType<string>;
  readonly timeout: z.ZodType<number>;
}

/** `preconditions` as an operator writes it; what depends on more than one key is in precondition-rules.ts. */
// oxlint-disable-next-line typescript/explicit-function-return-type -- the type of the block is what it is parsed to
export function preconditionsSchema({ request, jsonPointer, argumentPointer, title, timeout }: SharedFields) {
  const operand = z.union([
    z.string().max(512),
    z.number(),
    z.boolean(),
    z.null(),
    z.strictObject({ argument: argumentPointer }).readonly(),
  ]);
  const expect = z
    .strictObject({
      equals: operand.optional(),
      oneOf: z.array(operand).min(1).max(64).readonly().optional(),
      atLeast: operand.optional(),
      atMost: operand.optional(),
    })
    .readonly();
  const precondition = z
    .strictObject({
      name: z.string().regex(NAME, 'must be a lower-case word such as order_status'),
      title,
      request,
      credential: z.string().min(1).max(64).nullable().default(null),
      at: jsonPointer,
      expect: expect.nullable().default(null),
      unchanged: z.boolean().nullable().default(null),
      timeout,
      absent: z.enum(['fails', 'is_a_value']).default('fails'),
    })
    .readonly();
  return z.array(precondition).min(1).max(8).readonly();
}
