import { Command } from '@nestjs/cqrs';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { Caller } from '../../identity/caller.js';

export interface EditedCall {
  readonly toolCallId: string;
  readonly supersedesToolCallId: string;
  readonly status: string;
  /** The question about the new call; null where the policy asks nobody. */
  readonly approvalId: string | null;
}

/** An approver wants the call with other arguments. */
export class EditToolCall extends Command<EditedCall> {
  constructor(
    readonly caller: Caller,
    readonly approvalId: string,
    readonly edited: { readonly digest: string; readonly args: JsonObject; readonly reason: string },
  ) {
    super();
  }
}
