import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { DomainEvent, EventPayload } from '../../domain/events/catalogue.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { givenPolicyFiles } from '../../policy/engine/load-policies.js';
import type { LoadReport } from '../../policy/engine/policy-set.js';
import { StoredSets } from '../../policy/life/stored-sets.js';
import { PolicyActivation } from '../../policy/policy-activation.js';
import { refusal } from '../../policy/policy-problems.js';
import { POLICY_SCOPE } from '../../policy/policy-guard.js';
import type { CheckedSet } from '../../policy/policy.service.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { CommandLog } from '../command-log.js';
import { eventMadeBy } from '../event-made-by.js';
import { requireInstallationOperator } from '../own-call.js';
import { ProposePolicyActivation, type ProposedActivation } from './propose-policy-activation.command.js';

const STREAM = { kind: 'policy', id: POLICY_SCOPE } as const;

/** Checks a set in full, keeps it, and records that somebody wants it in force. Nothing changes but that. */
@CommandHandler(ProposePolicyActivation)
export class ProposePolicyActivationHandler implements ICommandHandler<ProposePolicyActivation> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly activation: PolicyActivation,
    private readonly sets: StoredSets,
    private readonly settings: Settings,
  ) {}

  async execute(command: ProposePolicyActivation): Promise<ProposedActivation> {
    const { caller, files, reason, commandId } = command;
    const asked = {
      type: 'activate_policies',
      target: { kind: 'policies', files: files === null ? null : jsonDigest(files as unknown as JsonObject[]) },
      details: { reason },
      commandId,
    };
    const acknowledged = await this.log.carryOut(caller, asked, async (start) => {
      requireInstallationOperator(caller, this.settings);
      if (this.settings.policy.activation === 'folder') {
        throw new CountersignError('policy_activation_by_folder', 'policy.activation is folder: reload does it');
      }
      const standby = await this.activation.look(files === null ? null : givenPolicyFiles(files));
      if (!standby.report.accepted) {
        await this.activation.recordRefusal(standby.report, caller.actor);
        throw refusal(standby.report);
      }
      const draft = start({ correlationId: 'policies' });
      await this.propose(draft, standby, command);
      return draft;
    });
    const { commandId: carried } = acknowledged;
    const proposed = await eventMadeBy(this.desk.read, caller.tenant, carried, 'policy.activation_proposed');
    const { activationId } = proposed.payload as unknown as EventPayload<'policy.activation_proposed'>;
    return { ...acknowledged, activationId };
  }

  private async propose(
    draft: UnitDraft,
    { report, candidate }: CheckedSet,
    { caller, reason }: ProposePolicyActivation,
  ): Promise<void> {
    const now = draft.context.occurredAt;
    const activationId = this.desk.newId(ID_PREFIXES.policyActivation);
    const revision = report.revision ?? '';
    const basedOn = (await this.desk.read.activePolicy(POLICY_SCOPE))?.revision ?? null;
    const decideBy = new Date(Date.parse(now) + this.settings.policy.activationDecideWithinMs).toISOString();
    const reportDigest = digestOfReport(report);
    const proposed: DomainEvent<'policy.activation_proposed'> = {
      type: 'policy.activation_proposed',
      payload: {
        activationId,
        policyRevision: revision,
        schemaDigest: report.schemaDigest ?? '',
        basedOn,
        author: caller.actor as unknown as JsonObject,
        reason,
        reportDigest,
        policyIds: report.policyIds,
        decideBy,
      },
    };
    if (candidate !== null) await this.sets.keepIn(draft, { report, candidate });
    const [eventId] = draft.append(STREAM, await this.desk.read.streamVersion(STREAM), [proposed], {});
    draft.write({
      op: 'insert',
      table: 'policy_activations',
      takenGuard: 'policy_activation',
      row: {
        activation_id: activationId,
        revision,
        based_on: basedOn,
        author: caller.actor.sub,
        reason,
        report_digest: reportDigest,
        state: 'proposed',
        decide_by: decideBy,
        proposed_event_id: eventId as string,
        decided_by: null,
        decided_event_id: null,
        created_at: now,
        updated_at: now,
      },
    });
  }
}

/** What the check said, so that whoever allows the set has seen the same warnings. */
export function digestOfReport({ revision, warnings, unattended }: LoadReport): string {
  return jsonDigest({ revision, warnings, unattended } as unknown as JsonObject);
}
