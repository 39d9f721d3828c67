import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { LeaseRevocation } from '../../policy/leases/lease-revocation.js';
import { UpstreamRevocations } from '../../policy/leases/upstream-revocations.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { requireInstallationOperator, requireOperator } from '../own-call.js';
import { RevokeLease, RevokeLeases, type Revoked } from './lease.commands.js';

@CommandHandler(RevokeLease)
export class RevokeLeaseHandler implements ICommandHandler<RevokeLease> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly revocation: LeaseRevocation,
    private readonly upstream: UpstreamRevocations,
  ) {}

  async execute({ caller, leaseId, reason, commandId }: RevokeLease): Promise<Acknowledged> {
    const asked = { type: 'revoke_lease', target: { leaseId }, details: { reason }, commandId };
    const acknowledged = await this.log.carryOut(caller, asked, async (start) => {
      requireOperator(caller);
      const row = await this.desk.read.lease(caller.tenant, leaseId);
      if (row === null) throw new CountersignError('lease_not_found', 'there is no such lease');
      const draft = start({ correlationId: row.correlation_id, runId: row.run_id, sessionId: row.session_id });
      this.revocation.into(draft, row, null);
      return draft;
    });
    // A credential that a provider made is asked for at once, also where nobody asks by itself any more.
    const row = await this.desk.read.lease(caller.tenant, leaseId);
    if (row !== null) await this.upstream.look(row, true);
    return acknowledged;
  }
}

/**
 * By agent, run, approval, capability or policy revision: leases of the caller's tenant. By key or epoch an operator of the
 * installation ends those of every tenant, since a key that leaked and a process that went wrong are everybody's.
 */
@CommandHandler(RevokeLeases)
export class RevokeLeasesHandler implements ICommandHandler<RevokeLeases> {
  constructor(
    private readonly log: CommandLog,
    private readonly revocation: LeaseRevocation,
    private readonly settings: Settings,
  ) {}

  async execute({ caller, selector, reason, commandId }: RevokeLeases): Promise<Revoked> {
    const asked = { type: 'revoke_leases', target: { ...selector }, details: { reason }, commandId };
    const isEverybodys = selector.by === 'kid' || selector.by === 'epoch';
    const acknowledged = await this.log.carryOut(caller, asked, async (start) => {
      if (isEverybodys) requireInstallationOperator(caller, this.settings);
      else requireOperator(caller);
      return start({ correlationId: `leases/${selector.by}` });
    });
    const rows = await this.revocation.select(isEverybodys ? null : caller.tenant, selector);
    return { ...acknowledged, revoked: await this.revocation.each(rows, selector) };
  }
}
