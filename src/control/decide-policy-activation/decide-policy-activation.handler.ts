import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Actor } from '../../domain/events/envelope.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { Caller } from '../../identity/caller.js';
import { StoredSets } from '../../policy/life/stored-sets.js';
import { PolicyActivation, type PrepareSet } from '../../policy/policy-activation.js';
import { POLICY_SCOPE } from '../../policy/policy-guard.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { INSTALLATION, UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { requireInstallationOperator } from '../own-call.js';
import { DecidePolicyActivation, type ActivationWord } from './decide-policy-activation.command.js';

type Proposal = TableRow<'policy_activations'>;

const STREAM = { kind: 'policy', id: POLICY_SCOPE } as const;

/** The second pair of eyes: an operator other than the author. The word, and the set in force by it, are one unit. */
@CommandHandler(DecidePolicyActivation)
export class DecidePolicyActivationHandler implements ICommandHandler<DecidePolicyActivation> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly activation: PolicyActivation,
    private readonly sets: StoredSets,
    private readonly settings: Settings,
  ) {}

  execute({ caller, word, commandId }: DecidePolicyActivation): Promise<Acknowledged> {
    const { activationId, decision, revision, reason } = word;
    const asked = {
      type: 'decide_policy_activation',
      target: { kind: 'policy_activation', activationId },
      details: { decision, revision, reason },
      commandId,
    };
    return this.activation.change((prepare) =>
      this.log.carryOut(caller, asked, async (start, now) => {
        requireInstallationOperator(caller, this.settings);
        const proposal = await this.desk.read.policyActivation(activationId);
        if (proposal === null) throw new CountersignError('policy_activation_not_found', 'there is no such proposal');
        const active = await this.desk.read.activePolicy(POLICY_SCOPE);
        mayDecide(caller, proposal, word, now, active?.revision ?? null);
        const draft = start({ correlationId: 'policies' });
        const author = await this.authorOf(proposal);
        await this.recordWord(draft, proposal, author, word);
        if (decision === 'allow') {
          const standby = await this.standby(prepare, proposal);
          await this.activation.recordIn(draft, standby, { activationId, author, approver: caller.actor });
        }
        return draft;
      }),
    );
  }

  /** The set that was proposed, made again with the manifests of now: where it comes out another, that was not approved. */
  private async standby(prepare: PrepareSet, { revision }: Proposal) {
    const stored = await this.sets.find(revision);
    if (stored === null) throw new CountersignError('policy_set_unknown', 'the proposed set is not kept');
    const standby = await prepare({ files: stored.candidate.files, problems: [] });
    if (standby.report.revision !== revision) {
      throw new CountersignError('policy_activation_stale', 'with the manifests of now the proposal is another set');
    }
    return standby;
  }

  private async authorOf({ author, proposed_event_id: eventId }: Proposal): Promise<Actor> {
    // The event belongs to the tenant of whoever proposed, which is the one that operates the installation.
    const tenant = this.settings.installation.operatorTenant ?? INSTALLATION;
    const event = await this.desk.read.event(tenant, eventId);
    return (event?.payload['author'] as unknown as Actor | undefined) ?? { sub: author };
  }

  private async recordWord(
    draft: UnitDraft,
    proposal: Proposal,
    author: Actor,
    { decision, reason }: ActivationWord,
  ): Promise<void> {
    const { activation_id: activationId, revision } = proposal;
    const by = draft.context.actor;
    const payload = {
      activationId,
      policyRevision: revision,
      decision,
      author: author as unknown as JsonObject,
      by: by as unknown as JsonObject,
      reason,
    };
    const version = await this.desk.read.streamVersion(STREAM);
    const [eventId] = draft.append(STREAM, version, [{ type: 'policy.activation_decided', payload }], {});
    draft.write({
      op: 'set',
      table: 'policy_activations',
      where: { activation_id: activationId, state: 'proposed' },
      set: {
        state: decision === 'allow' ? 'activated' : 'denied',
        decided_by: by.sub,
        decided_event_id: eventId as string,
        updated_at: draft.context.occurredAt,
      },
      guard: 'policy_activation',
    });
  }
}

/** @throws CountersignError `approver_not_allowed`, `policy_activation_closed`, `policy_activation_stale` */
function mayDecide(
  caller: Caller,
  proposal: Proposal,
  { decision, revision }: ActivationWord,
  now: string,
  active: string | null,
): void {
  const { author, state, decide_by: decideBy, based_on: basedOn } = proposal;
  if (caller.isAgent) throw new CountersignError('approver_not_allowed', "an agent's own credential can never decide");
  if (caller.actor.sub === author) {
    throw new CountersignError('approver_not_allowed', 'whoever proposed the set cannot decide about it');
  }
  if (state !== 'proposed') throw new CountersignError('policy_activation_closed', `the proposal is ${state}`);
  if (decideBy <= now) throw new CountersignError('policy_activation_closed', 'nobody decided in time');
  if (revision !== proposal.revision) {
    throw new CountersignError('policy_activation_stale', 'the proposal is about another revision than the one named');
  }
  if (decision === 'allow' && basedOn !== active) {
    throw new CountersignError('policy_activation_stale', 'another set has come into force since it was proposed');
  }
}
