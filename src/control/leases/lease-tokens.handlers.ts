import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { principalKey, principalOf } from '../../domain/principal.js';
import { LeaseTokens } from '../../policy/leases/lease-tokens.js';
import { LeaseUses, type LeaseAnswer } from '../../policy/leases/lease-uses.js';
import { CommandLog } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { IntrospectLease, RotateLeaseKey } from './lease.commands.js';

@CommandHandler(IntrospectLease)
export class IntrospectLeaseHandler implements ICommandHandler<IntrospectLease> {
  constructor(private readonly uses: LeaseUses) {}

  execute({ caller, presented }: IntrospectLease): Promise<LeaseAnswer> {
    const { use, ...rest } = presented;
    const usedBy = principalKey(principalOf(caller.actor));
    return this.uses.present({ ...rest, tenant: caller.tenant, usedBy }, use);
  }
}

/** Leases of every tenant are signed with the same keys. The wish is on record before the keys change, and carried out when it comes again. */
@CommandHandler(RotateLeaseKey)
export class RotateLeaseKeyHandler implements ICommandHandler<RotateLeaseKey> {
  constructor(
    private readonly log: CommandLog,
    private readonly tokens: LeaseTokens,
    private readonly settings: Settings,
  ) {}

  async execute({ caller, commandId }: RotateLeaseKey): Promise<{ readonly kid: string; readonly nextKid: string }> {
    const asked = { type: 'rotate_lease_key', target: { key: 'lease' }, details: {}, commandId };
    const carried = await this.log.carryOut(caller, asked, async (start) => {
      requireInstallationOperator(caller, this.settings);
      this.tokens.mustBeOldEnough(commandId ?? '');
      return start({ correlationId: 'leases/keys' });
    });
    return this.tokens.rotate(carried.commandId);
  }
}
