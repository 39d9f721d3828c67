import { CountersignError } from '../../domain/errors/countersign-error.js';

/** The last row of a page: where the next one goes on. */
export interface PageEnd {
  readonly createdAt: string;
  readonly id: string;
}

export function cursorOf({ createdAt, id }: PageEnd): string {
  return Buffer.from(JSON.stringify([createdAt, id]), 'utf8').toString('base64url');
}

/** Throws `invalid_request` for a text that `cursorOf` did not write. */
export function pageEndOf(cursor: string): PageEnd {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown;
    if (Array.isArray(parts) && parts.length === 2) {
      const [createdAt, id] = parts as readonly unknown[];
      if (typeof createdAt === 'string' && typeof id === 'string') return { createdAt, id };
    }
  } catch {
    // Not JSON: the same answer as any other text that is no cursor.
  }
  throw new CountersignError('invalid_request', 'the cursor is none that this list gave', { pointer: '/cursor' });
}
