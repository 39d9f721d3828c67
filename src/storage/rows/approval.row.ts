import { escalateAt, owesReview } from '../../domain/approval/approval-progress.js';
import type {
  ApprovalState,
  ApproverRule,
  Delegation,
  Escalation,
  Vote,
} from '../../domain/approval/approval.state.js';
import type { Risk } from '../../domain/tool-call/tool-call.state.js';
import { needed } from './needed.js';
import type { TableRow } from './tables.js';

type Row = TableRow<'approvals'>;
type VoteRow = TableRow<'approval_votes'>;

const FACT_COLUMNS = [
  'approval_id',
  'tenant',
  'tool_call_id',
  'run_id',
  'session_id',
  'principal',
  'version',
  'supersedes_approval_id',
  'required_event_id',
  'last_event_id',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof Row)[];

/** The columns of an approval's row that its state does not hold. */
export type ApprovalFacts = Pick<Row, (typeof FACT_COLUMNS)[number]>;

/** The facts of a row, to be carried into its next version. */
export function approvalFacts(row: Row): ApprovalFacts {
  return Object.fromEntries(FACT_COLUMNS.map((column) => [column, row[column]])) as unknown as ApprovalFacts;
}

/** The row of an approval; its votes have rows of their own. */
export function approvalRow(facts: ApprovalFacts, state: ApprovalState): Row {
  return {
    ...facts,
    capability: state.capability,
    capability_version: state.capabilityVersion,
    manifest_digest: state.manifestDigest,
    attempt: state.attempt,
    status: state.status,
    risk: state.risk,
    args_digest: state.argsDigest,
    consent_digest: state.consentDigest,
    policy_revision: state.policyRevision,
    rules: JSON.stringify(state.rules),
    requester_subjects: JSON.stringify(state.requesterSubjects),
    decide_by: state.decideBy,
    execution_window_ms: state.executionWindowMs,
    execute_by_latest: state.executeByLatest,
    execute_by: null,
    decided_by: null,
    status_reason: null,
    batch_id: state.batchId,
    delegations: JSON.stringify(state.delegations),
    escalations: JSON.stringify(state.escalations),
    escalate_at: escalateAt(state),
    break_glass_by: state.breakGlass?.by ?? null,
    reviewed_by: state.review?.by ?? null,
    review_finding: state.review?.finding ?? null,
    review_owed: owesReview(state) ? 1 : 0,
    ...statusColumns(state),
  };
}

function statusColumns(state: ApprovalState): Partial<Pick<Row, 'execute_by' | 'decided_by' | 'status_reason'>> {
  switch (state.status) {
    case 'pending':
      return {};
    case 'granted':
    case 'consumed':
      return { execute_by: state.executeBy, decided_by: JSON.stringify(state.decidedBy) };
    case 'denied':
      return { decided_by: JSON.stringify(state.decidedBy) };
    case 'expired':
      return { status_reason: state.clock };
    case 'invalidated':
    case 'closed':
      return { status_reason: state.reason };
  }
}

/** The row of one person's vote. */
export function voteRow(facts: Pick<VoteRow, 'approval_id' | 'tenant' | 'event_id' | 'voted_at'>, vote: Vote): VoteRow {
  return {
    ...facts,
    sub: vote.sub,
    decision: vote.decision,
    groups: JSON.stringify(vote.groups),
    on_behalf_of: JSON.stringify(vote.onBehalfOf ?? []),
    withdrawn: 0,
  };
}

/** The state that the rows say. `votes` in the order in which they were cast; withdrawn ones no longer count and are left out. */
export function approvalState(row: Row, votes: readonly VoteRow[]): ApprovalState {
  const base = {
    attempt: row.attempt,
    risk: row.risk as Risk,
    capability: row.capability,
    capabilityVersion: row.capability_version,
    manifestDigest: row.manifest_digest,
    argsDigest: row.args_digest,
    consentDigest: row.consent_digest,
    policyRevision: row.policy_revision,
    rules: JSON.parse(row.rules) as readonly ApproverRule[],
    requesterSubjects: JSON.parse(row.requester_subjects) as readonly string[],
    decideBy: row.decide_by,
    executionWindowMs: row.execution_window_ms,
    executeByLatest: row.execute_by_latest,
    votes: votes.filter((vote) => vote.withdrawn === 0).map(voteOf),
    batchId: row.batch_id,
    delegations: JSON.parse(row.delegations) as readonly Delegation[],
    escalations: JSON.parse(row.escalations) as readonly Escalation[],
    breakGlass: row.break_glass_by === null ? null : { by: row.break_glass_by },
    review:
      row.reviewed_by === null || row.review_finding === null
        ? null
        : { by: row.reviewed_by, finding: row.review_finding },
  };
  switch (row.status) {
    case 'pending':
      return { ...base, status: row.status };
    case 'granted':
    case 'consumed':
      return {
        ...base,
        status: row.status,
        executeBy: needed(row.execute_by, 'execute_by'),
        decidedBy: decidedBy(row),
      };
    case 'denied':
      return { ...base, status: row.status, decidedBy: decidedBy(row) };
    case 'expired':
      return { ...base, status: row.status, clock: needed<'decide' | 'execute'>(row.status_reason, 'status_reason') };
    case 'invalidated':
    case 'closed':
      return { ...base, status: row.status, reason: needed(row.status_reason, 'status_reason') };
  }
}

const decidedBy = (row: Row): readonly string[] =>
  JSON.parse(needed(row.decided_by, 'decided_by')) as readonly string[];

function voteOf(row: VoteRow): Vote {
  const vote = { sub: row.sub, decision: row.decision, groups: JSON.parse(row.groups) as readonly string[] };
  const lenders = JSON.parse(row.on_behalf_of) as readonly string[];
  return lenders.length === 0 ? vote : { ...vote, onBehalfOf: lenders };
}
