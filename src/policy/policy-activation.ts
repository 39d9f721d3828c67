import { Injectable } from '@nestjs/common';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { UnitDesk } from '../storage/units/unit-desk.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';
import type { LoadReport } from './engine/policy-set.js';
import { POLICY_SCOPE } from './policy-guard.js';
import { PolicyService, loadEvent } from './policy.service.js';

/**
 * Puts a policy set in force and makes that a fact: the event and the row every decision guards are one unit. A set with
 * a problem leaves the one in force where it is, and that is a fact too.
 */
@Injectable()
export class PolicyActivation {
  constructor(
    private readonly desk: UnitDesk,
    private readonly policy: PolicyService,
  ) {}

  /** @throws CountersignError `policy_set_refused` with every problem. */
  async activate(): Promise<LoadReport> {
    const draft = this.desk.beginInstallation('policies');
    const report = await this.recordIn(draft, draft.context.occurredAt);
    if (!draft.isEmpty) await this.desk.commit(draft);
    if (!report.accepted) throw refusal(report);
    return report;
  }

  /** Loads the folder and adds what came of it to the unit; the row moves only when the revision does. */
  async recordIn(draft: UnitDraft, now: string): Promise<LoadReport> {
    const report = await this.policy.reload();
    const row = await this.desk.read.activePolicy(POLICY_SCOPE);
    const event = loadEvent(report, row?.revision ?? null);
    if (event === null) return report;
    const stream = { kind: 'policy', id: POLICY_SCOPE } as const;
    const version = await this.desk.read.streamVersion(stream);
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
  return new CountersignError('policy_set_refused', `the policy set is not usable:\n  ${problems.join('\n  ')}`, {
    problems,
  });
}
