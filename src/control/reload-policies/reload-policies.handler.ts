import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { PolicyActivation, refusal } from '../../policy/policy-activation.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { ReloadPolicies } from './reload-policies.command.js';

/** Loads the policy folder again. A set that is refused leaves the active one in force and is answered with its problems. */
@CommandHandler(ReloadPolicies)
export class ReloadPoliciesHandler implements ICommandHandler<ReloadPolicies> {
  constructor(
    private readonly log: CommandLog,
    private readonly activation: PolicyActivation,
    private readonly settings: Settings,
  ) {}

  execute({ caller, reason, commandId }: ReloadPolicies): Promise<Acknowledged> {
    const asked = { type: 'reload', target: { kind: 'policies' }, details: { reason }, commandId };
    return this.log.carryOut(caller, asked, async (start, now) => {
      requireInstallationOperator(caller, this.settings);
      const draft = start({ correlationId: 'policies' });
      const report = await this.activation.recordIn(draft, now);
      if (!report.accepted) throw refusal(report);
      return draft;
    });
  }
}
