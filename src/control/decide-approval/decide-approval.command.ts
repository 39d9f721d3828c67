import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

/** A person's word about exactly what was shown to them. */
export interface Decision {
  readonly approvalId: string;
  readonly decision: 'allow' | 'deny';
  /** The consent digest of what was shown. */
  readonly digest: string;
  readonly reason: string | null;
  /** The version the person looked at, from `If-Match`; null when they sent none. */
  readonly expectedVersion: number | null;
}

/** A person allows or denies (control command `resume`). */
export class DecideApproval extends Command<{ readonly approvalId: string; readonly commandId: string }> {
  constructor(
    readonly caller: Caller,
    readonly word: Decision,
    readonly commandId: string | null,
  ) {
    super();
  }
}
