import type { ErrorCode } from './error-codes.js';

/** What a surface may add to an error: the offending field (RFC 6901 pointer), related ids, seconds to wait. */
export interface ErrorDetails {
  readonly pointer?: string;
  readonly toolCallId?: string;
  readonly approvalId?: string;
  readonly leaseId?: string;
  readonly commandId?: string;
  readonly recordedDecision?: string;
  readonly retryAfterSeconds?: number;
  readonly problems?: readonly string[];
}

/**
 * An error a user can make or meet. The code is stable wire format; the message is for people and never holds
 * arguments, secrets or full session ids. A broken invariant is a plain `Error` instead and stops the work.
 */
export class CountersignError extends Error {
  override readonly name = 'CountersignError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: ErrorDetails = {},
  ) {
    super(message);
  }
}
