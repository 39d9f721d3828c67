import { Injectable } from '@nestjs/common';
import { progressOf } from '../../domain/approval/approval-progress.js';
import type { ApprovalState, ApprovalStatus } from '../../domain/approval/approval.state.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { escapeForDisplay } from '../../domain/text/escape-text.js';
import { Store } from '../../storage/store.js';
import type { LoadedApproval } from '../../storage/units/load.js';

/** An approval as people see it. What was asked is shown exactly as it was kept. */
export interface ApprovalView {
  readonly approvalId: string;
  readonly status: ApprovalStatus;
  readonly toolCallId: string;
  readonly runId: string;
  readonly attempt: number;
  readonly capability: string;
  readonly capabilityVersion: string;
  readonly title: string;
  readonly description: string;
  readonly risk: string;
  readonly effect: string;
  readonly arguments: JsonObject;
  readonly argumentsEmpty: boolean;
  readonly argumentsLong: boolean;
  readonly target: JsonObject;
  readonly digest: string;
  readonly argsDigest: string;
  readonly shownDigest: string;
  readonly requester: { readonly sub: string; readonly act: string | null };
  /** What the call rests on and how it was when people were asked; only where the capability says so. */
  readonly preconditions?: readonly JsonObject[];
  readonly agentReason: string | null;
  readonly reasons: readonly string[];
  readonly determining: readonly string[];
  readonly policyRevision: string;
  readonly decideBy: string;
  readonly executeByLatest: string;
  readonly executeBy: string | null;
  readonly needed: readonly {
    readonly group: string;
    readonly count: number;
    readonly have: number;
    readonly notRequester: boolean;
  }[];
  readonly votes: readonly {
    readonly sub: string;
    readonly decision: 'allow' | 'deny';
    readonly at: string;
    readonly reason: string | null;
    readonly onBehalfOf: readonly string[];
  }[];
  readonly batchId: string | null;
  readonly delegations: ApprovalState['delegations'];
  readonly escalations: ApprovalState['escalations'];
  /** When the policy has a wider group asked next; null when it has not. */
  readonly escalateAt: string | null;
  readonly breakGlass: {
    readonly by: string;
    readonly reviewOwed: boolean;
    readonly reviewedBy: string | null;
    readonly finding: string | null;
  } | null;
  readonly decidedBy: readonly string[] | null;
  readonly statusReason: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly links: Readonly<Record<string, string>>;
  /** For `ETag` and `If-Match`. */
  readonly version: number;
}

/** Longer requests are shown whole, and said to be long: the dangerous end must not hide behind the length. */
const LONG_CHARACTERS = 400;

export const isLongForPeople = (shownArguments: unknown): boolean =>
  JSON.stringify(shownArguments, null, 2).length > LONG_CHARACTERS;

type Beyond = Pick<ApprovalView, 'batchId' | 'delegations' | 'escalations' | 'escalateAt' | 'breakGlass'>;

function beyondVotes({ row, state }: LoadedApproval): Beyond {
  const { batchId, delegations, escalations, breakGlass, review } = state;
  return {
    batchId,
    delegations,
    escalations,
    escalateAt: row.escalate_at,
    breakGlass:
      breakGlass === null
        ? null
        : {
            by: breakGlass.by,
            reviewOwed: row.review_owed === 1,
            reviewedBy: review?.by ?? null,
            finding: review?.finding ?? null,
          },
  };
}

interface Shown {
  readonly title: string;
  readonly description: string;
  readonly effect: string;
  readonly arguments: JsonObject;
  readonly target: JsonObject;
  readonly agentReason: string | null;
  readonly preconditions?: readonly JsonObject[];
}

@Injectable()
export class ApprovalViews {
  constructor(private readonly store: Store) {}

  async of(approval: LoadedApproval): Promise<ApprovalView> {
    const { row, state } = approval;
    const required = await this.store.read.event(row.tenant, row.required_event_id);
    if (required === null) throw new Error('an approval without its question');
    const shown = required.payload['shown'] as unknown as Shown;
    const rules = new Map(state.rules.map((rule) => [rule.group, rule]));
    const [sub, act] = JSON.parse(row.principal) as readonly string[];
    // The question is caused by the decision that asked it; later ones of the call are about something else.
    const asking = required.envelope.causationId;
    const decided = asking === null ? null : await this.store.read.event(row.tenant, asking);
    return {
      approvalId: row.approval_id,
      status: state.status,
      toolCallId: row.tool_call_id,
      runId: row.run_id,
      attempt: state.attempt,
      capability: state.capability,
      capabilityVersion: state.capabilityVersion,
      title: shown.title,
      description: shown.description,
      risk: state.risk,
      effect: shown.effect,
      arguments: shown.arguments,
      argumentsEmpty: Object.keys(shown.arguments).length === 0,
      argumentsLong: isLongForPeople(shown.arguments),
      target: shown.target,
      digest: state.consentDigest,
      argsDigest: state.argsDigest,
      shownDigest: required.payload['shownDigest'] as string,
      requester: { sub: sub ?? '', act: act ?? null },
      ...(shown.preconditions === undefined ? {} : { preconditions: shown.preconditions }),
      agentReason: shown.agentReason,
      reasons: required.payload['reasons'] as readonly string[],
      determining: (decided?.payload['determining'] ?? []) as readonly string[],
      policyRevision: state.policyRevision,
      decideBy: state.decideBy,
      executeByLatest: state.executeByLatest,
      executeBy: row.execute_by,
      needed: progressOf(state).map((progress) => ({
        ...progress,
        notRequester: rules.get(progress.group)?.notRequester ?? false,
      })),
      votes: await this.votes(approval),
      ...beyondVotes(approval),
      decidedBy: row.decided_by === null ? null : (JSON.parse(row.decided_by) as readonly string[]),
      statusReason: row.status_reason,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      links: {
        self: `/v1/approvals/${row.approval_id}`,
        decision: `/v1/approvals/${row.approval_id}/decision`,
        toolCall: `/v1/tool-calls/${row.tool_call_id}`,
      },
      version: row.version,
    };
  }

  private async votes({ row, votes }: LoadedApproval): Promise<ApprovalView['votes']> {
    const shown = [];
    for (const vote of votes) {
      if (vote.withdrawn === 1) continue;
      const event = await this.store.read.event(row.tenant, vote.event_id);
      const reason = event?.payload['reason'];
      shown.push({
        sub: vote.sub,
        decision: vote.decision,
        at: vote.voted_at,
        reason: typeof reason === 'string' ? escapeForDisplay(reason) : null,
        onBehalfOf: JSON.parse(vote.on_behalf_of) as readonly string[],
      });
    }
    return shown;
  }
}
