import { Command } from '@nestjs/cqrs';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { Caller } from '../../identity/caller.js';
import type { Edit } from '../approvals/edit.js';
import type { LoadedCall } from '../../storage/units/load.js';

/** What an agent asks for, as it came through a surface: parsed, not yet judged. */
export interface Proposal {
  /** `name` or `name@version`. */
  readonly capability: string;
  readonly arguments: JsonObject;
  readonly idempotencyKey: string | null;
  readonly runId: string | null;
  /** The caller's label of a run (`Run-Id`). */
  readonly runLabel: string | null;
  readonly turnId: string | null;
  readonly callId: string | null;
  readonly reasoningObjectId: string | null;
  readonly skillId: string | null;
  readonly intentId: string | null;
  readonly allowDuplicateIntent: boolean;
  readonly reason: string | null;
  /** ISO 8601 in UTC. */
  readonly executeBefore: string | null;
  /** The call that this one is meant to undo, as it was loaded; both are recorded in one unit. */
  readonly compensates?: LoadedCall;
  /** The call whose arguments an approver replaces by these; both are recorded in one unit. */
  readonly edits?: Edit;
}

export interface Proposed {
  readonly toolCallId: string;
  /** True when this key (or this callId in its turn) had already named the call: nothing new was recorded. */
  readonly replayed: boolean;
}

/** An agent proposes one use of a capability. */
export class ProposeToolCall extends Command<Proposed> {
  constructor(
    readonly caller: Caller,
    readonly proposal: Proposal,
  ) {
    super();
  }
}
