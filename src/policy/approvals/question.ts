import type { ApproverRule } from '../../domain/approval/approval.state.js';
import { consentDigest, jsonDigest } from '../../domain/digests/digests.js';
import type { EventPayload } from '../../domain/events/catalogue.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import { redactValue } from '../../domain/redaction/redact.js';
import { escapeForDisplay } from '../../domain/text/escape-text.js';
import { escapeValue } from '../../domain/text/escape-value.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import type { AskedRule } from '../core/policy-types.js';
import type { Judged } from '../judged.js';
import { restingOn } from '../preconditions/shown-readings.js';

export interface AskedCall {
  readonly toolCallId: string;
  readonly tenant: string;
  readonly state: ToolCallState;
  readonly supersedesApprovalId: string | null;
  readonly runId: string;
  readonly turnId: string | null;
}

/**
 * The question to people. `shown` is exactly what every surface shows: the effective arguments in full, hidden and
 * bidirectional characters visible, redacted values masked. It and its digest are kept. The consent digest is over the
 * real values, so what is allowed is what runs.
 *
 * The consent covers the latest moment at which the call may be sent; the grant itself only ever shortens it.
 */
export function composeQuestion(judged: Judged, asked: AskedCall): EventPayload<'approval.required'> {
  const { decision, capability, now } = judged;
  const { state } = asked;
  const { obligations } = decision;
  if (obligations === null) throw new Error('a question needs obligations');
  const decideBy = earlier(plus(now, obligations.decideWithinMs), state.executeBefore);
  const executeByLatest = earlier(plus(decideBy, obligations.executionWindowMs), state.executeBefore);
  const rests = restingOn(judged);
  const shown: JsonObject = {
    title: capability.manifest.title,
    description: capability.manifest.description,
    capability: capability.id,
    risk: state.risk,
    effect: state.effect,
    arguments: escapeValue(redactValue(judged.args, judged.redacted)),
    target: escapeValue(judged.target),
    agentReason: judged.agentReason === null ? null : escapeForDisplay(judged.agentReason),
    ...rests.shown,
  };
  return {
    risk: state.risk,
    expiresAt: decideBy,
    decideBy,
    executionWindowMs: obligations.executionWindowMs,
    executeByLatest,
    attempt: state.attempt,
    capability: state.capability,
    capabilityVersion: state.capabilityVersion,
    manifestDigest: state.manifestDigest,
    argsDigest: state.argsDigest,
    consentDigest: consentDigest({
      toolCallId: asked.toolCallId,
      attempt: state.attempt,
      tenant: asked.tenant,
      principal: state.principal,
      capability: capability.id,
      manifestDigest: state.manifestDigest,
      argsDigest: state.argsDigest,
      target: judged.target,
      risk: state.risk,
      policyRevision: decision.policyRevision,
      decideBy,
      executeBy: executeByLatest,
    }),
    shown,
    shownDigest: jsonDigest(shown),
    groups: obligations.rules.map((rule) => askedAt(rule, now, decideBy)) as unknown as JsonValue[],
    requesterSubjects: judged.requesterSubjects,
    reasons: decision.reasons,
    policyRevision: decision.policyRevision,
    supersedesApprovalId: asked.supersedesApprovalId,
    ...rests.snapshot,
    approvalBatchId: asked.turnId === null ? null : batchIdOf(asked.runId, asked.turnId),
  };
}

/** Questions of one turn belong together, whoever asks first: the id follows from the turn. */
export function batchIdOf(runId: string, turnId: string): string {
  return `${ID_PREFIXES.approvalBatch}_${jsonDigest({ runId, turnId }).slice('sha256:'.length, 'sha256:'.length + 26)}`;
}

/** A wider group that would be asked when the question is over is not asked at all. */
function askedAt({ escalation, ...rule }: AskedRule, now: string, decideBy: string): ApproverRule {
  const at = escalation === undefined ? decideBy : plus(now, escalation.afterMs);
  return escalation === undefined || at >= decideBy ? rule : { ...rule, escalation: { group: escalation.group, at } };
}

const plus = (iso: string, ms: number): string => new Date(Date.parse(iso) + ms).toISOString();

const earlier = (iso: string, bound: string | null): string => (bound !== null && bound < iso ? bound : iso);
