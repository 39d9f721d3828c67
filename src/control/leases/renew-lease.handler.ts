import { timingSafeEqual } from 'node:crypto';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import { renewalOf } from '../../domain/lease/lease.renew.js';
import { RUN_OPEN_STATUSES } from '../../domain/run/run.state.js';
import { hasRole, type Caller } from '../../identity/caller.js';
import { LeaseTokens } from '../../policy/leases/lease-tokens.js';
import { LeaseInUnit, loadLease, type LoadedLease } from '../../storage/units/lease-in-unit.js';
import { runIsOpen } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { CommandLog } from '../command-log.js';
import { eventMadeBy } from '../event-made-by.js';
import { RenewLease, type Renewed } from './lease.commands.js';

/**
 * P-49: while a call that its tool has accepted runs on, a new lease takes the place of the one that is about to end. The
 * same command again answers with the same lease, and so with the same token.
 */
@CommandHandler(RenewLease)
export class RenewLeaseHandler implements ICommandHandler<RenewLease> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly tokens: LeaseTokens,
    private readonly settings: Settings,
  ) {}

  async execute({ caller, leaseId, renewal: { scopes, ttlMs, token }, commandId }: RenewLease): Promise<Renewed> {
    const details = { scopes, ttlMs };
    const asked = { type: 'renew_lease', target: { leaseId }, details, commandId };
    const acknowledged = await this.log.carryOut(caller, asked, async (start, now) => {
      const lease = await this.loaded(caller, leaseId);
      const { run_id, session_id, correlation_id } = lease.facts;
      const draft = start({ correlationId: correlation_id, runId: run_id, sessionId: session_id });
      const nextId = this.desk.newId(ID_PREFIXES.lease);
      const renewal = renewalOf(
        lease.state,
        leaseId,
        { scopes, ttlMs },
        {
          now,
          ownerEpoch: this.desk.instance.epoch,
          kid: lease.state.mode === 'token' ? this.tokens.currentKid : null,
        },
      );
      if (!renewal.ok) throw new CountersignError(renewal.code, renewal.message, { leaseId });
      await this.mustRunOn(draft, lease);
      new LeaseInUnit(draft, lease).do({ kind: 'release', release: { reason: 'renewed', at: now } });
      const facts = {
        ...lease.facts,
        lease_id: nextId,
        version: 0,
        last_event_id: '',
        created_at: now,
        updated_at: now,
      };
      new LeaseInUnit(draft, { state: null, facts }).do({ kind: 'issue', issue: renewal.issue }, this.settings.leases);
      return draft;
    });
    const { commandId: carried } = acknowledged;
    const issued = await eventMadeBy(this.desk.read, caller.tenant, carried, 'lease.issued');
    const nextId = issued.envelope.streamId;
    const next = await this.loaded(caller, nextId);
    const isHolder = token !== null && (await this.isHeldBy(caller, leaseId, token));
    return { leaseId: nextId, token: isHolder ? await this.tokens.tokenOf(next) : null };
  }

  /** A new token is for whoever shows the one before, as a connector: no other tool of the tenant, no operator, and never a harness. */
  private async isHeldBy(caller: Caller, leaseId: string, token: string): Promise<boolean> {
    if (!hasRole(caller, 'connector') || caller.roles.includes('harness')) return false;
    const lease = await this.loaded(caller, leaseId);
    if (lease.state.mode !== 'token') return false;
    // Signatures of Ed25519 are the same each time, so the token can be made again and compared.
    const [shown, real] = [Buffer.from(token), Buffer.from(await this.tokens.tokenOf(lease))];
    return shown.length === real.length && timingSafeEqual(shown, real);
  }

  private async loaded(caller: Caller, leaseId: string): Promise<LoadedLease> {
    const lease = await loadLease(this.desk.read, caller.tenant, leaseId);
    if (lease === null) throw new CountersignError('lease_not_found', 'there is no such lease');
    return lease;
  }

  /** Read here for the answer, and guarded in the unit for the truth. */
  private async mustRunOn(draft: UnitDraft, { facts, state }: LoadedLease): Promise<void> {
    const call = await this.desk.read.toolCall(facts.tenant, facts.tool_call_id);
    const run = await this.desk.read.run(facts.tenant, facts.run_id);
    const isOpen = run !== null && RUN_OPEN_STATUSES.some((status) => status === run.status);
    if (call === null || call.status !== 'accepted' || call.attempt !== state.attempt || !isOpen) {
      throw new CountersignError('lease_renewal_refused', 'the call of the lease does not run on', {
        leaseId: facts.lease_id,
      });
    }
    const where = {
      tool_call_id: facts.tool_call_id,
      status: 'accepted',
      attempt: state.attempt,
      cancellation_requested: 0,
    };
    draft.guard(runIsOpen(facts.run_id)).guard({ name: 'tool_call', table: 'tool_calls', where, expect: 'present' });
  }
}
