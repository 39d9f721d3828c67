import { SetMetadata } from '@nestjs/common';
import type { z } from 'zod';
import type { ErrorCode } from '../../domain/errors/error-codes.js';
import type { AnswerHeader, RequestHeader } from './headers.js';
import type { Tag } from './tags.js';

export interface Answer {
  /** One sentence. */
  readonly means: string;
  /** Of `application/json`; absent when the answer has no such body. */
  readonly body?: z.ZodType;
  /** Other media types, and what they hold. */
  readonly text?: Readonly<Record<string, string>>;
  readonly headers?: readonly AnswerHeader[];
}

/**
 * What a route takes and answers, said once: the handler reads its input by these very schemas, and `/openapi.json` is
 * built from them. Method, path and roles are those of the route itself.
 */
export interface Operation {
  /** `operationId`: a verb and what it is about; true for ever, generated clients are named by it. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** Of a public route whose handler looks at a token itself, if there is one. */
  readonly token?: 'optional';
  readonly headers?: readonly RequestHeader[];
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  readonly answers: Readonly<Record<number, Answer>>;
  /** Besides what every route of its kind can be refused with (`usual-refusals.ts`). */
  readonly refusals: readonly ErrorCode[];
}

export const OPERATION_KEY = 'countersign:operation';

/** Every route implements one. */
export const Implements = (operation: Operation): MethodDecorator => SetMetadata(OPERATION_KEY, operation);
