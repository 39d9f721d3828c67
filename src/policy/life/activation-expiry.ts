import { Injectable } from '@nestjs/common';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { POLICY_SCOPE } from '../policy-guard.js';

const STREAM = { kind: 'policy', id: POLICY_SCOPE } as const;
const AT_ONCE = 100;

type Proposal = TableRow<'policy_activations'>;

/** Proposals that nobody decided in time, or that are a change of a set no longer in force, end as a fact. */
@Injectable()
export class ActivationExpiry {
  constructor(private readonly desk: UnitDesk) {}

  /** Answers how many could not be looked after. */
  async tick(): Promise<number> {
    const open = await this.desk.read.openPolicyActivations(AT_ONCE);
    if (open.length === 0) return 0;
    const active = (await this.desk.read.activePolicy(POLICY_SCOPE))?.revision ?? null;
    let missed = 0;
    for (const proposal of open) {
      const because = endOf(proposal, this.desk.now(), active);
      if (because !== null) missed += await this.expire(proposal, because);
    }
    return missed;
  }

  private async expire({ activation_id: activationId, revision }: Proposal, because: 'overdue' | 'superseded') {
    const draft = this.desk.beginInstallation('policies');
    const payload = { activationId, policyRevision: revision, because };
    const version = await this.desk.read.streamVersion(STREAM);
    const [eventId] = draft.append(STREAM, version, [{ type: 'policy.activation_expired', payload }], {});
    draft.write({
      op: 'set',
      table: 'policy_activations',
      where: { activation_id: activationId, state: 'proposed' },
      set: { state: 'expired', decided_event_id: eventId as string, updated_at: draft.context.occurredAt },
      guard: 'policy_activation',
    });
    try {
      await this.desk.commit(draft);
      return 0;
    } catch (error) {
      // Somebody decided meanwhile, or moved the stream: the next pass looks again.
      if (error instanceof GuardFailed) return 0;
      return 1;
    }
  }
}

function endOf({ decide_by: decideBy, based_on: basedOn }: Proposal, now: string, active: string | null) {
  if (basedOn !== active) return 'superseded';
  return decideBy <= now ? 'overdue' : null;
}
