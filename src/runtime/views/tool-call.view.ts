import { Injectable } from '@nestjs/common';
import { progressOf } from '../../domain/approval/approval-progress.js';
import { dispositionOf } from '../../domain/disposition/disposition.js';
import type { DecisionOutcome, KnownEffect } from '../../domain/events/catalogue.js';
import type { CommittedEvent } from '../../domain/events/envelope.js';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import { redactValue } from '../../domain/redaction/redact.js';
import type { ApprovalStatus } from '../../domain/approval/approval.state.js';
import type { ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import { Store } from '../../storage/store.js';
import { loadApproval, type LoadedCall } from '../../storage/units/load.js';
import { OutcomeViews, type OutcomeView } from './outcome.view.js';

/** A tool call as every surface shows it: derived from its events, never authoritative. */
export interface ToolCallView {
  readonly toolCallId: string;
  readonly status: ToolCallStatus;
  readonly waitingFor: 'approval' | 'execution' | 'upstream' | 'reconciliation' | 'operator' | null;
  readonly attempt: number;
  readonly capability: string;
  readonly capabilityVersion: string;
  readonly arguments: JsonObject;
  readonly argsDigest: string;
  readonly runId: string;
  readonly turnId: string | null;
  readonly callId: string | null;
  readonly idempotencyKey: string | null;
  readonly decision: DecisionView | null;
  readonly approval: ApprovalInCall | null;
  readonly result: JsonValue;
  readonly resultTruncated: boolean;
  readonly resultRef: string | null;
  readonly externalRequestId: string | null;
  readonly error: { readonly code: string; readonly effect: KnownEffect | 'unknown'; readonly message: string } | null;
  readonly mayHaveHappened: boolean;
  readonly contradicted: boolean;
  readonly retryAllowed: boolean;
  readonly retryReasons: readonly string[];
  readonly reconciliation: ReconciliationView | null;
  readonly resolution: { readonly finding: string; readonly evidenceRefs: readonly string[] } | null;
  readonly cancellation: CancellationView | null;
  readonly compensates: string | null;
  readonly compensatedBy: string | null;
  readonly outcome: OutcomeView;
  readonly guidance: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly position: number;
  readonly links: Readonly<Record<string, string>>;
}

interface CancellationView {
  readonly status: 'requested' | 'unanswered' | 'confirmed' | 'impossible';
  readonly reason: string | null;
}

interface DecisionView {
  readonly outcome: DecisionOutcome;
  readonly reasons: readonly string[];
  readonly policyRevision: string;
  readonly determining: readonly string[];
}

interface ApprovalInCall {
  readonly approvalId: string;
  readonly status: ApprovalStatus;
  readonly decideBy: string;
  readonly executeBy: string | null;
  readonly needed: readonly { readonly group: string; readonly count: number; readonly have: number }[];
  readonly link: string;
}

interface ReconciliationView {
  readonly strategy: string | null;
  readonly attempts: number;
  readonly nextAt: string | null;
  readonly deadline: string | null;
}

/** Builds the view from the row and the sealed events it names. */
@Injectable()
export class ToolCallViews {
  private readonly outcomes: OutcomeViews;

  constructor(private readonly store: Store) {
    this.outcomes = new OutcomeViews(store);
  }

  async of(call: LoadedCall): Promise<ToolCallView> {
    const { row, state } = call;
    const [proposed, decided, settled, resolved, approval, position] = await Promise.all([
      this.event(row.tenant, row.proposed_event_id),
      this.event(row.tenant, row.decided_event_id),
      this.event(row.tenant, row.settled_event_id),
      this.event(row.tenant, row.resolution_event_id),
      this.approval(row.tenant, row.approval_id),
      this.store.read.positionOf(row.tenant, row.last_event_id),
    ]);
    const disposition = dispositionOf(withEvidence(state, resolved));
    return {
      toolCallId: row.tool_call_id,
      status: state.status,
      waitingFor: disposition.waitingFor,
      attempt: state.attempt,
      capability: state.capability,
      capabilityVersion: state.capabilityVersion,
      arguments: argumentsOf(proposed),
      argsDigest: state.argsDigest,
      runId: row.run_id,
      turnId: row.turn_id,
      callId: row.call_id,
      idempotencyKey: textOf(proposed, 'idempotencyKey'),
      decision: decisionOf(decided),
      approval,
      ...resultOf(state.status, settled),
      externalRequestId: state.externalRequestId,
      error: errorOf(state.status, settled),
      mayHaveHappened: disposition.mayHaveHappened,
      contradicted: state.contradicted,
      retryAllowed: disposition.retryAllowed,
      retryReasons: disposition.retryReasons,
      reconciliation: reconciliationOf(call),
      resolution: resolutionOf(resolved),
      cancellation: cancellationOf(state),
      compensates: state.compensates,
      compensatedBy: state.compensatedBy,
      outcome: await this.outcomes.of(row.tenant, row.tool_call_id, proposed),
      guidance: disposition.guidance,
      createdAt: row.created_at,
      updatedAt: row.updated_at,
      position: position ?? 0,
      links: linksOf(row.tool_call_id, row.run_id, row.approval_id),
    };
  }

  private event(tenant: string, eventId: string | null): Promise<CommittedEvent | null> {
    return eventId === null ? Promise.resolve(null) : this.store.read.event(tenant, eventId);
  }

  private async approval(tenant: string, approvalId: string | null): Promise<ApprovalInCall | null> {
    const approval = approvalId === null ? null : await loadApproval(this.store.read, tenant, approvalId);
    if (approval === null) return null;
    return {
      approvalId: approval.row.approval_id,
      status: approval.state.status,
      decideBy: approval.row.decide_by,
      executeBy: approval.row.execute_by,
      needed: progressOf(approval.state).map(({ group, count, have }) => ({ group, count, have })),
      link: `/v1/approvals/${approval.row.approval_id}`,
    };
  }
}

function withEvidence(state: LoadedCall['state'], resolved: CommittedEvent | null): LoadedCall['state'] {
  if (state.status !== 'manual_handoff' || state.resolution === null || resolved === null) return state;
  const evidenceRefs = (resolved.payload['evidenceRefs'] ?? []) as readonly string[];
  return { ...state, resolution: { ...state.resolution, evidenceRefs } };
}

function argumentsOf(proposed: CommittedEvent | null): JsonObject {
  if (proposed === null) return {};
  const redacted = (proposed.payload['redacted'] ?? []) as readonly string[];
  return redactValue(proposed.payload['arguments'] as JsonObject, redacted);
}

function decisionOf(decided: CommittedEvent | null): DecisionView | null {
  if (decided === null) return null;
  const { outcome, reasons, policyRevision, determining } = decided.payload as unknown as DecisionView;
  return { outcome, reasons, policyRevision, determining };
}

function resultOf(
  status: ToolCallStatus,
  settled: CommittedEvent | null,
): Pick<ToolCallView, 'result' | 'resultTruncated' | 'resultRef'> {
  if (status !== 'completed' || settled === null) return { result: null, resultTruncated: false, resultRef: null };
  return {
    result: settled.payload['result'] as JsonValue,
    resultTruncated: settled.payload['resultTruncated'] === true,
    resultRef: settled.envelope.eventId,
  };
}

function errorOf(status: ToolCallStatus, settled: CommittedEvent | null): ToolCallView['error'] {
  if (settled === null) return null;
  const { payload } = settled;
  switch (status) {
    case 'failed':
      return {
        code: payload['code'] as string,
        effect: payload['effect'] as KnownEffect,
        message: textOf(settled, 'message') ?? (payload['code'] as string),
      };
    case 'result_unknown':
    case 'reconciling':
      return {
        code: payload['cause'] as string,
        effect: 'unknown',
        message: 'it is not known whether the tool executed the call',
      };
    case 'manual_handoff':
      return {
        code: payload['reason'] as string,
        effect: 'unknown',
        message: 'an operator has to find out what happened',
      };
    case 'denied':
      return {
        code: payload['basis'] === 'precondition' ? 'precondition_failed' : 'denied',
        effect: 'none',
        message: reasonsIn(payload) ?? '',
      };
    case 'not_executed':
      return {
        code: payload['reason'] as string,
        effect: 'none',
        message: reasonsIn(payload) ?? 'the call was not executed',
      };
    case 'proposed':
    case 'authorized':
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
    case 'completed':
      return null;
  }
}

function reasonsIn({ reasons }: JsonObject): string | null {
  return Array.isArray(reasons) ? (reasons as readonly string[]).join('; ') : null;
}

function reconciliationOf({ row, state }: LoadedCall): ReconciliationView | null {
  if (state.status !== 'result_unknown' && state.status !== 'reconciling') return null;
  return {
    strategy: row.reconciliation_strategy,
    attempts: row.reconciliation_queries,
    nextAt: row.reconciliation_next_at,
    deadline: row.reconciliation_deadline,
  };
}

function resolutionOf(resolved: CommittedEvent | null): ToolCallView['resolution'] {
  if (resolved === null) return null;
  const { finding, evidenceRefs } = resolved.payload as unknown as { finding: string; evidenceRefs: readonly string[] };
  return { finding, evidenceRefs };
}

/** What is recorded about stopping what was sent: a wish stays a wish until the tool has answered. */
function cancellationOf(state: LoadedCall['state']): CancellationView | null {
  if (state.status === 'failed' && state.code === 'cancelled') return { status: 'confirmed', reason: null };
  if (state.cancellationRequested) {
    const isOpen = state.status !== 'result_unknown' && state.status !== 'reconciling';
    return { status: isOpen ? 'requested' : 'unanswered', reason: null };
  }
  return state.irreversible === null ? null : { status: 'impossible', reason: state.irreversible };
}

function textOf(event: CommittedEvent | null, field: string): string | null {
  const value = event?.payload[field];
  return typeof value === 'string' ? value : null;
}

function linksOf(toolCallId: string, runId: string, approvalId: string | null): Readonly<Record<string, string>> {
  return {
    self: `/v1/tool-calls/${toolCallId}`,
    run: `/v1/runs/${runId}`,
    ...(approvalId === null ? {} : { approval: `/v1/approvals/${approvalId}` }),
  };
}
