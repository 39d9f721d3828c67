import { Command } from '@nestjs/cqrs';
import type { Caller } from '../../identity/caller.js';

/** One token by its `jti`, or all of a subject of a tenant that were issued before a time (ISO 8601; null: before now). */
export type RevokedTokens =
  { readonly jti: string } | { readonly tenant: string; readonly sub: string; readonly issuedBefore: string | null };

export interface Revoked {
  readonly revocationId: string;
  /** ISO 8601: after it such tokens have expired by themselves. */
  readonly until: string;
}

/** Ends tokens before their time. */
export class RevokeToken extends Command<Revoked> {
  constructor(
    readonly caller: Caller,
    readonly tokens: RevokedTokens,
    readonly reason: string | null,
  ) {
    super();
  }
}
