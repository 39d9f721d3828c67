import { Injectable } from '@nestjs/common';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { Actor } from '../domain/events/envelope.js';
import { Clock } from '../system/clock.js';
import { IdSource } from '../system/id-source.js';
import { Store } from '../storage/store.js';
import { UnitDraft } from '../storage/units/unit-draft.js';
import type { LoadReport } from './engine/policy-set.js';
import { POLICY_SCOPE } from './policy-guard.js';
import { PolicyService, loadEvent } from './policy.service.js';

const BOOT: Actor = { sub: 'countersign' };

/**
 * Puts a policy set in force and makes that a fact: the event and the row every decision guards are one unit. A set with
 * a problem leaves the one in force where it is, and that is a fact too.
 */
@Injectable()
export class PolicyActivation {
  constructor(
    private readonly store: Store,
    private readonly ids: IdSource,
    private readonly clock: Clock,
    private readonly policy: PolicyService,
  ) {}

  /** @throws CountersignError `policy_set_refused` with every problem. */
  async activate(): Promise<LoadReport> {
    const now = new Date(this.clock.now()).toISOString();
    const draft = new UnitDraft(this.ids, {
      tenant: POLICY_SCOPE,
      lane: 'govern',
      actor: BOOT,
      correlationId: 'policies',
      occurredAt: now,
      causationId: null,
      causeKind: 'external',
    });
    const report = await this.recordIn(draft, now);
    const unit = draft.build();
    if (unit.appends.length > 0) await this.store.commit(unit);
    if (!report.accepted) throw refusal(report);
    return report;
  }

  /** Loads the folder and adds what came of it to the unit; the row moves only when the revision does. */
  async recordIn(draft: UnitDraft, now: string): Promise<LoadReport> {
    const report = await this.policy.reload();
    const row = await this.store.read.activePolicy(POLICY_SCOPE);
    const event = loadEvent(report, row?.revision ?? null);
    if (event === null) return report;
    const stream = { kind: 'policy', id: POLICY_SCOPE } as const;
    const version = await this.store.read.streamVersion(POLICY_SCOPE, stream);
    const [eventId] = draft.append(stream, version, [event], {});
    if (event.type === 'policy.activated') {
      draft.write({
        op: 'put',
        table: 'policy_active',
        row: {
          scope: POLICY_SCOPE,
          revision: event.payload.policyRevision,
          schema_digest: event.payload.schemaDigest,
          stream_version: version + 1,
          activated_event_id: eventId as string,
          activated_at: now,
        },
      });
    }
    return report;
  }
}

export function refusal(report: LoadReport): CountersignError {
  const problems = report.problems.map(({ file, policyId, code, message }) =>
    [file, policyId, `${code}: ${message}`].filter((part) => part !== undefined && part !== null).join(' '),
  );
  return new CountersignError('policy_set_refused', `the policy set is not usable:\n  ${problems.join('\n  ')}`, { problems });
}
