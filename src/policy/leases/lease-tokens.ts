import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import type { LoadedLease } from '../../storage/units/lease-in-unit.js';
import { LeaseKeys, type LeaseJwk } from '../../secrets/lease-keys.js';
import { Clock } from '../../system/clock.js';
import { LeaseTokenVerifier, type LeaseClaims } from './lease-token-verifier.js';

/** `iss` of lease tokens. */
export function leaseIssuer({ leases, installation }: Pick<Settings, 'leases' | 'installation'>): string {
  return leases.issuer ?? installation.publicUrl ?? `countersign:${installation.name}`;
}

/**
 * The token of a lease: made from its row whenever it is handed on, kept nowhere. Whoever calls `tokenOf` gives it to the
 * environment that the lease is for, and to nobody else.
 */
@Injectable()
export class LeaseTokens {
  readonly verifier: LeaseTokenVerifier;
  private readonly issuer: string;

  constructor(
    private readonly keys: LeaseKeys,
    settings: Settings,
    clock: Clock,
  ) {
    this.issuer = leaseIssuer(settings);
    this.verifier = new LeaseTokenVerifier({
      issuer: this.issuer,
      keyOf: (kid) => keys.publicKey(kid),
      now: () => clock.now(),
    });
  }

  get currentKid(): string {
    return this.keys.currentKid;
  }

  jwks(): readonly LeaseJwk[] {
    return this.keys.jwks();
  }

  /** @throws CountersignError `lease_key_too_young` */
  mustBeOldEnough(command: string): void {
    this.keys.mustBeOldEnough(command);
  }

  /** Once per command. @throws CountersignError `lease_key_too_young` */
  rotate(command: string): { readonly kid: string; readonly nextKid: string } {
    return this.keys.rotate(command);
  }

  /** @throws Error for a lease that has no token */
  tokenOf({ facts, state }: LoadedLease): Promise<string> {
    const { audience, kid, principal } = state;
    if (state.mode !== 'token' || audience === null || kid === null) throw new Error('this lease has no token');
    const claims: LeaseClaims = {
      iss: this.issuer,
      aud: audience,
      sub: principal.sub,
      ...(principal.act === undefined ? {} : { act: { sub: principal.act } }),
      jti: facts.lease_id,
      iat: secondsOf(state.issuedAt),
      nbf: secondsOf(state.issuedAt),
      exp: secondsOf(state.expiresAt),
      txn: facts.tool_call_id,
      attempt: state.attempt,
      env: state.executionEnvironmentId,
      cap: state.capability,
      cap_v: state.capabilityVersion,
      args_h: state.argsDigest,
      scope: state.scopes.join(' '),
      max_uses: state.maxUses,
      ...(facts.policy_decision_id === null ? {} : { dec: facts.policy_decision_id }),
      ...(state.policyRevision === null ? {} : { pol: state.policyRevision }),
      ...(facts.approval_id === null ? {} : { apr: facts.approval_id }),
    };
    return this.keys.sign(kid, { ...claims });
  }
}

/** Whole seconds, never later than the time itself: a token does not outlive its lease. */
const secondsOf = (time: string): number => Math.floor(Date.parse(time) / 1000);
