import { Command } from '@nestjs/cqrs';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { Caller } from '../../identity/caller.js';

export interface GrantTerms {
  readonly kind: 'grant';
  readonly capability: string;
  readonly group: string;
  /** Null: whoever asks. */
  readonly principalSub: string | null;
  readonly principalAct: string | null;
  /** Pointer → value; null: any arguments. */
  readonly argumentsEqual: JsonObject | null;
  /** ISO 8601 in UTC. */
  readonly until: string;
  readonly reason: string;
}

export interface DelegationTerms {
  readonly kind: 'delegation';
  readonly to: string;
  /** Null: all groups of the person that approvals ask. */
  readonly groups: readonly string[] | null;
  readonly until: string;
  readonly reason: string | null;
}

/** A person gives a right of theirs for a time. */
export class GiveStandingRight extends Command<{ readonly id: string; readonly commandId: string }> {
  constructor(
    readonly caller: Caller,
    readonly terms: GrantTerms | DelegationTerms,
    readonly commandId: string | null,
  ) {
    super();
  }
}

/** A standing right ends at once. */
export class RevokeStandingRight extends Command<{ readonly id: string; readonly commandId: string }> {
  constructor(
    readonly caller: Caller,
    readonly kind: 'grant' | 'delegation',
    readonly id: string,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}
