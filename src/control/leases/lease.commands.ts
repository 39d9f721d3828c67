import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';
import type { LeaseAnswer } from '../../policy/leases/lease-uses.js';
import type { LeaseSelector } from '../../policy/leases/lease-revocation.js';
import type { Acknowledged } from '../command-log.js';

/** Ends one lease of the tenant. Again is no more than once. */
export class RevokeLease extends Command<Acknowledged> {
  constructor(
    readonly caller: Caller,
    readonly leaseId: string,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}

export interface Revoked extends Acknowledged {
  /** Leases that this command ended. */
  readonly revoked: number;
}

/** Ends every live lease that the selector means. */
export class RevokeLeases extends Command<Revoked> {
  constructor(
    readonly caller: Caller,
    readonly selector: LeaseSelector,
    readonly reason: string | null,
    readonly commandId: string | null,
  ) {
    super();
  }
}

export interface Renewed {
  readonly leaseId: string;
  /** For the environment that holds the lease; null for everybody else, and where the lease has none. */
  readonly token: string | null;
}

/** What a renewal asks for; null: as it was. */
export interface LeaseRenewal {
  readonly scopes: readonly string[] | null;
  readonly ttlMs: number | null;
  /** The token of the lease, from whoever holds it; null: the caller holds none, and is given none. */
  readonly token: string | null;
}

/** Puts a new lease in the place of one that has not ended: never wider, never after a stop. */
export class RenewLease extends Command<Renewed> {
  constructor(
    readonly caller: Caller,
    readonly leaseId: string,
    readonly renewal: LeaseRenewal,
    /** Names the renewal: the same again is the same lease. */
    readonly commandId: string | null,
  ) {
    super();
  }
}

/** Looks at a presented token, or burns a use of its lease. */
export class IntrospectLease extends Command<LeaseAnswer> {
  constructor(
    readonly caller: Caller,
    readonly presented: {
      readonly token: string;
      readonly use: boolean;
      readonly toolCallId?: string;
      readonly attempt?: number;
      readonly environmentId?: string;
      readonly audience?: string;
    },
  ) {
    super();
  }
}

/** The next signing key signs from now on. */
export class RotateLeaseKey extends Command<{ readonly kid: string; readonly nextKid: string }> {
  constructor(
    readonly caller: Caller,
    readonly commandId: string | null,
  ) {
    super();
  }
}
