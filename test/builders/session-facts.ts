import fc from 'fast-check';
import type { EventEnvelope } from '../../src/domain/events/envelope.js';
import type { JsonObject, JsonValue } from '../../src/domain/json/json-value.js';
import type { MirroredEvent, SessionEvent, SessionFact } from '../../src/domain/session/session-row.js';

type Refs = Partial<
  Pick<EventEnvelope, 'runId' | 'turnId' | 'stepId' | 'toolCallId' | 'approvalId' | 'reasoningObjectId'> &
    Pick<EventEnvelope, 'policyDecisionId' | 'capabilityId' | 'artifactId' | 'feedbackId' | 'streamKind' | 'streamId'>
>;

export const at = (seq: number): string => new Date(Date.UTC(2031, 0, 1, 0, 0, seq)).toISOString();

/** A buffered event at a place of the log. */
export function said(seq: number, eventType: string, payload: JsonObject, refs: Refs = {}): SessionEvent {
  return {
    kind: 'event',
    seq,
    eventId: `evt-${seq}`,
    eventType,
    schemaVersion: 1,
    producer: 'harness',
    correlationId: 'run-1',
    causationId: null,
    causeKind: 'external',
    occurredAt: at(seq),
    recordedAt: at(seq),
    payload,
    ...refs,
  };
}

/** A governed event as reducers see it; `null` as payload: erased. */
export function governed(seq: number, eventType: string, payload: JsonObject | null, refs: Refs = {}): MirroredEvent {
  const envelope = {
    eventId: `evt-${seq}`,
    eventType,
    schemaVersion: 1,
    tenant: 'acme',
    streamKind: 'run',
    streamId: 'run-1',
    version: seq + 1,
    unitId: `unit-${seq}`,
    unitIndex: 0,
    unitSize: 1,
    producer: 'session-runtime',
    actor: { sub: 'alice' },
    correlationId: 'run-1',
    causationId: null,
    causeKind: 'external',
    occurredAt: at(seq),
    recordedAt: at(seq),
    versionSetId: 'v',
    runId: 'run-1',
    ...refs,
  } as EventEnvelope;
  return { kind: 'mirror', seq, eventId: envelope.eventId, position: seq, envelope, payloadCommitment: 'c', payload };
}

const text = (value: string): JsonValue => [{ type: 'text', text: value }];

type Making = (seq: number, n: number) => SessionFact;

const turn = { runId: 'run-1', turnId: 'turn-1' };
const call = (n: number): Refs => ({ toolCallId: `tool-${n}`, capabilityId: 'pay@1', streamKind: 'call' });
const approval = (n: number): Refs => ({ ...call(n), approvalId: `apr-${n}`, streamKind: 'approval' });
const run = (n: number): Refs => ({ runId: `run-${n % 2}`, streamId: `run-${n % 2}` });

/** Every kind of fact that a reducer reads, in forms that the log can hold. */
const MAKINGS: readonly Making[] = [
  (seq) => said(seq, 'session.created', { metadata: { a: seq }, formatVersion: 1 }),
  (seq, n) => said(seq, 'user.message', { messageId: `m${seq}`, contents: text(`hello ${n}`) }),
  (seq, n) =>
    said(
      seq,
      'assistant.message',
      {
        messageId: `m${seq}`,
        contents: n === 0 ? [] : text('let me see'),
        toolCalls: [{ callId: `c${n}`, name: 'pay', arguments: { amount: n } }],
        ...(n === 3 ? { incomplete: true } : {}),
      },
      turn,
    ),
  (seq) => said(seq, 'assistant.message', { messageId: `m${seq}`, contents: text('done'), toolCalls: [] }, turn),
  (seq, n) =>
    said(
      seq,
      'tool.message',
      { messageId: `m${seq}`, callId: `c${n}`, contents: text('42'), disposition: 'completed' },
      { ...turn, toolCallId: `tool-${n}` },
    ),
  (seq, n) => said(seq, 'tool.reported', { messageId: `m${seq}`, callId: `c${n}`, contents: text('ran') }, turn),
  (seq, n) => said(seq, 'notice.message', { messageId: `m${seq}`, text: 'late', about: `tool-${n}` }),
  (seq, n) =>
    said(seq, 'system.reminder_set', { key: n === 0 ? '__proto__' : `k${n}`, value: n === 1 ? null : 'be kind' }),
  (seq, n) => said(seq, 'system.prompt_changed', { promptDigest: `p${n}`, promptTemplateVersion: '1' }),
  (seq, n) => said(seq, 'tools.changed', { toolsDigest: `t${n}`, tools: [{ name: 'pay' }] }),
  (seq, n) => said(seq, 'usage.recorded', { model: `model-${n}`, tokens: { in: n, out: 1 } }, { runId: 'run-1' }),
  (seq, n) => said(seq, 'loop.advanced', { totalLoopCount: seq, currentLoopCount: n }, { runId: 'run-1' }),
  (seq, n) => said(seq, 'metadata.updated', { patch: { [`f${n}`]: n === 2 ? null : { deep: { [`g${n}`]: n } } } }),
  (seq, n) => said(seq, 'plan.updated', { plan: [`step ${n}`], planDigest: `d${n}` }, { runId: 'run-1' }),
  (seq, n) => said(seq, 'skills.activated', { skills: [`skill-${n}`] }),
  (seq, n) => said(seq, 'episodic.recorded', { episodeId: `ep${n}`, messageIds: [`m${seq - 1}`, `m${seq - 2}`] }),
  (seq) => said(seq, 'error.recorded', { layer: 'provider', code: 'c', message: 'm', retryability: 'always' }),
  (seq) => said(seq, 'turn.started', {}, { ...turn, turnId: `turn-${seq}` }),
  (seq) => said(seq, 'turn.ended', { outcome: 'completed' }, turn),
  (seq, n) => said(seq, 'step.started', { contextBuildId: `ctx-${n}` }, { ...turn, stepId: `step-${n}` }),
  (seq) => said(seq, 'versions.recorded', { versionSetId: 'v', versions: { harnessVersion: `h${seq}` } }),
  (seq, n) => governed(seq, 'session.history_truncated', { droppedMessageIds: [`m${seq - n}`], reason: 'suspend' }),
  (seq, n) => governed(seq, 'run.started', { implicit: false, principal: { sub: 'a' }, goalRef: 'g' }, run(n)),
  (seq, n) => governed(seq, 'run.suspended', { checkpointId: `cp${seq}` }, run(n)),
  (seq, n) => governed(seq, 'run.resumed', { checkpointId: 'cp' }, run(n)),
  (seq, n) => governed(seq, 'run.interrupted', { lastSeq: seq }, run(n)),
  (seq, n) => governed(seq, 'stop.requested', { scope: [], modelActive: true, requestedBy: 'a' }, run(n)),
  (seq, n) => governed(seq, 'run.completed', n === 0 ? null : { reason: 'done' }, run(n)),
  (seq, n) => governed(seq, 'run.failed', { lastError: { code: 'x', message: 'boom' } }, run(n)),
  (seq, n) => governed(seq, 'checkpoint.created', { checkpointId: `cp${n}`, kind: 'suspended', seq }, run(n)),
  (seq, n) => governed(seq, 'checkpoint.archived', { checkpointId: `cp${n}` }, run(n)),
  (seq, n) =>
    governed(
      seq,
      'approval.required',
      n === 0
        ? null
        : { risk: 'high', expiresAt: at(99), argsDigest: 'd', shown: { arguments: { n } }, reasons: ['r'] },
      approval(n),
    ),
  (seq, n) => governed(seq, 'approval.granted', { executeBy: at(120) }, approval(n)),
  (seq, n) => governed(seq, 'approval.consumed', { attempt: 1, nonce: 'n' }, approval(n)),
  (seq, n) => governed(seq, 'approval.closed', { reason: 'stopped' }, approval(n)),
  (seq, n) => governed(seq, 'plan_review.required', { planReviewId: `pr${n}`, plan: ['x'], planDigest: 'd' }, run(n)),
  (seq, n) => governed(seq, 'plan_review.decided', { planReviewId: `pr${n}`, decision: 'allow' }, run(n)),
  (seq) => governed(seq, 'reasoning.recorded', { conclusion: 'pay', risk: 'high', knowledgeRefs: ['k'] }),
  (seq, n) => governed(seq, 'tool.call.proposed', { capability: 'pay', callId: `c${n}`, downstreamKey: 'k' }, call(n)),
  (seq, n) => governed(seq, 'tool.call.dispatching', { executionEnvironmentId: 'env' }, call(n)),
  (seq, n) => governed(seq, 'tool.call.dispatched', { dispatchedAt: at(seq), externalRequestId: `x${n}` }, call(n)),
  (seq, n) => governed(seq, 'tool.call.result_unknown', { cause: 'timeout', lastError: 'timeout' }, call(n)),
  (seq, n) => governed(seq, 'reconciliation.started', { strategy: 'human', deadline: at(9) }, call(n)),
  (seq, n) => governed(seq, 'tool.call.completed', { basis: 'direct', result: 1 }, call(n)),
  (seq, n) => governed(seq, 'tool.call.failed', { code: 'rejected', effect: 'none' }, call(n)),
  (seq, n) => governed(seq, 'outcome.verification_opened', {}, { ...call(n), streamKind: 'outcome' }),
  (seq, n) => governed(seq, 'feedback.received', { feedbackId: `f${n}` }, { ...call(n), streamKind: 'outcome' }),
  (seq, n) => governed(seq, 'feedback.success_criteria_met', {}, { ...call(n), streamKind: 'outcome' }),
  (seq, n) => governed(seq, 'artifact.created', {}, { artifactId: `art${n}` }),
  (seq, n) => governed(seq, 'subagent.spawned', { subagentId: `s${n}`, childSessionId: 'child' }),
  (seq, n) => governed(seq, 'subagent.completed', { subagentId: `s${n}`, status: 'ok' }),
];

/** Sequences of facts in any order, so that no reducer can rest on an order that it was not promised. */
export const factSequences = (maxLength: number): fc.Arbitrary<readonly SessionFact[]> =>
  fc
    .array(fc.tuple(fc.nat(MAKINGS.length - 1), fc.nat(3)), { maxLength, size: 'max' })
    .map((picks) => picks.map(([making, n], seq) => (MAKINGS[making] as Making)(seq, n)));
