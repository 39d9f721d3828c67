import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { Harness } from '../open-session/open-session.command.js';
import type { AttachedSession } from './attached-session.js';

/** A harness takes a session over and learns how to go on. */
export class AttachSession extends Command<AttachedSession> {
  constructor(
    readonly caller: Caller,
    readonly sessionId: string,
    readonly harness: Harness,
  ) {
    super();
  }
}
