import type { Settings } from '../config/settings.js';
import type { EventPayload } from '../domain/events/catalogue.js';
import { ID_PREFIXES } from '../domain/ids/ids.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { principalKey } from '../domain/principal.js';
import { ApprovalInUnit } from '../storage/units/approval-in-unit.js';
import type { CallInUnit } from '../storage/units/call-in-unit.js';
import { openApprovalsKey } from '../storage/units/open-approvals.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';
import { composeQuestion } from './approvals/question.js';
import { failing, reasonsOf } from './core/precondition.js';
import type { Judged } from './judged.js';

/**
 * Records what the policy said and what follows at once: an authorization, a denial, or a question to people. The
 * policy decides whether people are asked; nothing here adds to it or takes from it.
 */
export function recordJudgement(draft: UnitDraft, call: CallInUnit, judged: Judged, settings: Settings): void {
  const { decision } = judged;
  recordDecision(draft, call, judged);
  switch (decision.outcome) {
    case 'allow':
      call.do({
        kind: 'authorize',
        authorization: {
          basis: 'policy',
          attempt: call.state.attempt,
          executeBy: authorizedUntil(judged.now, call.state.executeBefore, settings.execution.authorizedTtlMs),
        },
      });
      return;
    case 'deny':
      call.do({ kind: 'deny', denial: { basis: 'policy', reasons: decision.reasons } });
      return;
    case 'requires_confirmation': {
      // Nobody is asked about what would not be sent.
      const broken = failing(judged.readings ?? []);
      if (broken.length === 0) askPeople(draft, call, judged, settings.policy.openApprovalsPerAgentMax);
      else call.do({ kind: 'deny', denial: { basis: 'precondition', reasons: reasonsOf(broken) } });
      return;
    }
  }
}

type Decided = EventPayload<'policy.decided'>;

/** Records the answer of the policy alone. */
export function recordDecision(draft: UnitDraft, call: CallInUnit, judged: Judged): void {
  const { decision, request } = judged;
  const policyDecisionId = draft.ids.next(ID_PREFIXES.policyDecision);
  // The input is in the proposal already; together they are the whole request, so the decision can be replayed.
  const { input: _, ...rest } = request;
  call.do(
    {
      kind: 'record_decision',
      decision: {
        phase: judged.phase,
        outcome: decision.outcome,
        policyRevision: decision.policyRevision,
        schemaDigest: decision.schemaDigest,
        engineVersion: decision.engineVersion,
        requestDigest: decision.requestDigest,
        request: rest as unknown as JsonObject,
        determining: decision.determining,
        reasons: decision.reasons,
        obligations: decision.obligations as unknown as JsonObject | null,
        engineErrors: decision.engineErrors,
        attempt: call.state.attempt,
        ...budgetsOf(judged, call),
      },
    },
    { policyDecisionId },
  );
}

/** What the decision takes of budgets, unless the call holds exactly that since it was proposed. */
function budgetsOf(
  { decision, phase }: Judged,
  call: CallInUnit,
): Pick<Decided, 'reservations' | 'exceeded'> | undefined {
  const { reservations, exceeded } = decision;
  if (exceeded !== undefined) return { exceeded };
  if (reservations === undefined || (phase === 'dispatch' && reservations === call.state.reserved)) return undefined;
  return { reservations: reservations as unknown as JsonObject[] };
}

function askPeople(draft: UnitDraft, call: CallInUnit, judged: Judged, openMax: number): void {
  const { facts } = call.after;
  const approvalId = draft.ids.next(ID_PREFIXES.approval);
  const question = composeQuestion(judged, {
    toolCallId: facts.tool_call_id,
    tenant: facts.tenant,
    state: call.state,
    supersedesApprovalId: facts.approval_id,
    runId: facts.run_id,
    turnId: facts.turn_id,
  });
  const principal = principalKey(call.state.principal);
  // A question that is asked anew takes the place of the one before it: that is never refused.
  const max = facts.approval_id === null ? openMax : null;
  draft.count({ tenant: facts.tenant, key: openApprovalsKey(principal), add: 1, max });
  const before = {
    state: null,
    facts: {
      approval_id: approvalId,
      tenant: facts.tenant,
      tool_call_id: facts.tool_call_id,
      run_id: facts.run_id,
      session_id: facts.session_id,
      principal,
      version: 0,
      supersedes_approval_id: facts.approval_id,
      required_event_id: '',
      last_event_id: '',
      created_at: judged.now,
      updated_at: judged.now,
    },
  };
  new ApprovalInUnit(draft, before, call.refs).do({ kind: 'ask', question });
  call.boundTo(approvalId);
}

/** Until when an authorization by policy alone may be used. */
export function authorizedUntil(now: string, executeBefore: string | null, ttlMs: number): string {
  const until = new Date(Date.parse(now) + ttlMs).toISOString();
  return executeBefore !== null && executeBefore < until ? executeBefore : until;
}
