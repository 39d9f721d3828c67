import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { PolicyActivation } from '../../policy/policy-activation.js';
import { refusal } from '../../policy/policy-problems.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { ReloadPolicies } from './reload-policies.command.js';

const mustBeProposed = (): CountersignError =>
  new CountersignError(
    'policy_activation_needs_approval',
    'policy.activation is approved: propose the set, and another operator allows it',
  );

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
    return this.activation.change((prepare) =>
      this.log.carryOut(caller, asked, async (start) => {
        requireInstallationOperator(caller, this.settings);
        if (this.settings.policy.activation === 'approved') throw mustBeProposed();
        const standby = await prepare();
        if (!standby.report.accepted) {
          // In a unit of its own: the command is rejected, and what it found in the folder stays a fact.
          await this.activation.recordRefusal(standby.report, caller.actor);
          throw refusal(standby.report);
        }
        const draft = start({ correlationId: 'policies' });
        await this.activation.recordIn(draft, standby);
        return draft;
      }),
    );
  }
}
