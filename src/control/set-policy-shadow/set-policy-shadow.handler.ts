import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { givenPolicyFiles } from '../../policy/engine/load-policies.js';
import { PolicyShadow } from '../../policy/life/shadow.worker.js';
import { StoredSets } from '../../policy/life/stored-sets.js';
import { PolicyActivation } from '../../policy/policy-activation.js';
import { refusal } from '../../policy/policy-problems.js';
import { POLICY_SCOPE } from '../../policy/policy-guard.js';
import type { TableRow } from '../../storage/rows/tables.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { SetPolicyShadow, type ShadowChoice } from './set-policy-shadow.command.js';

const STREAM = { kind: 'policy', id: POLICY_SCOPE } as const;

/** Sets or ends the shadow. It decides nothing, so it takes one person; that it is there is a fact all the same. */
@CommandHandler(SetPolicyShadow)
export class SetPolicyShadowHandler implements ICommandHandler<SetPolicyShadow> {
  private readonly desk: UnitDesk;

  constructor(
    private readonly log: CommandLog,
    private readonly activation: PolicyActivation,
    private readonly sets: StoredSets,
    private readonly shadow: PolicyShadow,
    private readonly settings: Settings,
  ) {
    this.desk = sets.desk;
  }

  async execute({ caller, choice, reason, commandId }: SetPolicyShadow): Promise<Acknowledged> {
    const asked = {
      type: choice === null ? 'clear_policy_shadow' : 'set_policy_shadow',
      target: { kind: 'policies', ...namedIn(choice) },
      details: { reason },
      commandId,
    };
    let chosen: string | null | undefined;
    const acknowledged = await this.log.carryOut(caller, asked, async (start) => {
      requireInstallationOperator(caller, this.settings);
      const before = await this.desk.read.policyShadow(POLICY_SCOPE);
      const draft = start({ correlationId: 'policies' });
      if (choice === null) {
        if (before === null) throw new CountersignError('policy_shadow_not_set', 'no set shadows the one in force');
        chosen = null;
        return this.clear(draft, before, reason);
      }
      chosen = await this.revisionOf(draft, choice);
      return this.set(draft, before, chosen, reason);
    });
    await this.change(chosen);
    return acknowledged;
  }

  /** Undefined: the command had been carried out before. */
  private async change(chosen: string | null | undefined): Promise<void> {
    if (chosen === null) await this.shadow.stop();
    const stored = typeof chosen === 'string' ? await this.sets.find(chosen) : null;
    if (stored !== null) await this.shadow.follow(stored);
  }

  private async revisionOf(draft: UnitDraft, choice: NonNullable<ShadowChoice>): Promise<string> {
    if ('revision' in choice) {
      const stored = await this.sets.find(choice.revision);
      if (stored === null) throw new CountersignError('policy_set_unknown', 'no set of this revision is kept');
      return choice.revision;
    }
    const { report, candidate } = await this.activation.look(givenPolicyFiles(choice.files));
    if (!report.accepted || report.revision === null || candidate === null) throw refusal(report);
    await this.sets.keepIn(draft, { report, candidate });
    return report.revision;
  }

  private async set(
    draft: UnitDraft,
    before: TableRow<'policy_shadow'> | null,
    revision: string,
    reason: string | null,
  ): Promise<UnitDraft> {
    const { actor, occurredAt } = draft.context;
    const payload = {
      policyRevision: revision,
      previousRevision: before?.revision ?? null,
      by: actor as unknown as JsonObject,
      reason,
    };
    const version = await this.desk.read.streamVersion(STREAM);
    const [eventId] = draft.append(STREAM, version, [{ type: 'policy.shadow_set', payload }], {});
    const row = {
      scope: POLICY_SCOPE,
      revision,
      set_by: actor.sub,
      event_id: eventId as string,
      set_at: occurredAt,
    };
    return draft.write({ op: 'put', table: 'policy_shadow', row });
  }

  private async clear(
    draft: UnitDraft,
    { revision }: TableRow<'policy_shadow'>,
    reason: string | null,
  ): Promise<UnitDraft> {
    const payload = { policyRevision: revision, by: draft.context.actor as unknown as JsonObject, reason };
    const version = await this.desk.read.streamVersion(STREAM);
    draft.append(STREAM, version, [{ type: 'policy.shadow_cleared', payload }], {});
    return draft.write({ op: 'delete', table: 'policy_shadow', where: { scope: POLICY_SCOPE } });
  }
}

function namedIn(choice: ShadowChoice): JsonObject {
  if (choice === null) return {};
  return 'revision' in choice
    ? { revision: choice.revision }
    : { files: jsonDigest(choice.files as unknown as JsonObject[]) };
}
