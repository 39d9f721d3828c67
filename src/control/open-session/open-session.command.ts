import { Command } from '@nestjs/cqrs';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { SessionParent } from '../../domain/session/session-row.js';
import type { Caller } from '../../identity/caller.js';

export interface Harness {
  readonly instanceId: string;
  readonly version: string | null;
}

/** A harness opens a durable session and is attached to it. Answers its id once everything about it is on disk. */
export class OpenSession extends Command<{ readonly sessionId: string }> {
  constructor(
    readonly caller: Caller,
    /** Null: one is given. */
    readonly sessionId: string | null,
    readonly metadata: JsonObject,
    readonly harness: Harness,
    readonly parent: SessionParent | null,
  ) {
    super();
  }
}
