import { consentDigest, jsonDigest } from '../../src/domain/digests/digests.js';
import type { EventType, StreamKind } from '../../src/domain/events/catalogue.js';
import type { EventEnvelope, EventRefs } from '../../src/domain/events/envelope.js';
import { canonicalBytes } from '../../src/domain/json/canonical-json.js';
import type { JsonObject, JsonValue } from '../../src/domain/json/json-value.js';
import { leafHash, payloadCommitment } from '../../src/ledger/core/leaf.js';

/** An event as it stands in a log: its envelope, its payload and the salt of its commitment. */
export interface LogEvent {
  readonly envelope: EventEnvelope;
  readonly payload: JsonObject;
  readonly salt: Uint8Array;
}

/** What a unit of the story says; everything else of the envelope is counted. */
export interface Told {
  readonly type: EventType;
  readonly stream: readonly [StreamKind, string];
  readonly refs?: EventRefs;
  readonly payload: JsonObject;
  readonly tenant?: string;
}

const digestOf = (text: string): string => jsonDigest(text);

/** What the decisions of the story refer to, and what its approver saw. */
export const POLICY_SET: JsonObject = { cedarVersion: '4', policies: { 'ask-people': 'permit(...)' }, schema: {} };
export const POLICY_SCHEMA: JsonObject = { shop: { actions: {} } };
const REVISION = jsonDigest(POLICY_SET);
const SCHEMA = jsonDigest(POLICY_SCHEMA);
const MANIFEST = digestOf('definition');
const TARGET: JsonObject = { connector: 'http', method: 'POST', url: 'https://shop.example/refunds' };
const PRINCIPAL = { sub: 'mia', act: 'agent-7' };
const DECIDE_BY = '2031-01-01T01:00:00.000Z';
const EXECUTE_BY = '2031-01-01T02:00:00.000Z';

/** A chain of units: refs and versions are counted, each unit is caused by the one before. */
export function tell(units: readonly (readonly Told[])[]): LogEvent[] {
  const versions = new Map<string, number>();
  const log: LogEvent[] = [];
  for (const [unitNumber, unit] of units.entries()) {
    const cause = log.at(-1);
    unit.forEach((told, unitIndex) => {
      const [streamKind, streamId] = told.stream;
      const stream = `${streamKind}/${streamId}`;
      const version = (versions.get(stream) ?? 0) + 1;
      versions.set(stream, version);
      const position = log.length;
      const sameTenant = cause?.envelope.tenant === (told.tenant ?? 'acme') ? cause : undefined;
      const envelope: EventEnvelope = {
        eventId: `evt_${String(position).padStart(4, '0')}`,
        eventType: told.type,
        schemaVersion: 1,
        tenant: told.tenant ?? 'acme',
        streamKind,
        streamId,
        version,
        unitId: `unt_${unitNumber}`,
        unitIndex,
        unitSize: unit.length,
        ...told.refs,
        producer: 'capability-runtime',
        actor: { sub: 'mia', act: { sub: 'agent-7' } },
        correlationId: 'call_1',
        causationId: sameTenant?.envelope.eventId ?? null,
        causeKind: sameTenant === undefined ? 'external' : 'event',
        occurredAt: '2031-01-01T00:00:00.000Z',
        recordedAt: '2031-01-01T00:00:00.123Z',
        versionSetId: 'v1',
      };
      log.push({
        envelope,
        payload: told.payload,
        salt: Uint8Array.from({ length: 16 }, (_, at) => (position * 7 + at) % 256),
      });
    });
  }
  return log;
}

export const commitmentOf = ({ salt, payload }: LogEvent): Uint8Array =>
  payloadCommitment(salt, canonicalBytes(payload));

export const leafOf = (event: LogEvent): Uint8Array => leafHash(event.envelope, commitmentOf(event));

/** `arguments` of the story's refund and what its approver saw of them. */
export const REFUND: JsonObject = { orderId: 'o-1', amountMinor: 500, note: 'late parcel' };
export const SHOWN: JsonObject = { title: 'Refund', arguments: REFUND, target: TARGET };

function proposed(toolCallId: string, args: JsonValue = REFUND): Told {
  return {
    type: 'tool.call.proposed',
    stream: ['call', toolCallId],
    refs: { toolCallId },
    payload: {
      capability: 'refund',
      capabilityVersion: '1',
      manifestDigest: MANIFEST,
      effect: 'non_idempotent',
      risk: 'high',
      principal: PRINCIPAL,
      arguments: args,
      argsDigest: jsonDigest(args),
      intentDigest: digestOf('intent'),
      target: TARGET,
      downstreamKey: 'cs_1',
      requesterSubjects: ['mia', 'agent-7'],
    },
  };
}

function decidedBy(toolCallId: string, outcome: string): Told {
  const payload = {
    phase: 'propose',
    outcome,
    policyRevision: REVISION,
    schemaDigest: SCHEMA,
    engineVersion: '4',
    requestDigest: digestOf('request'),
    request: {},
    determining: ['ask-people'],
    reasons: [],
    attempt: 1,
  };
  return { type: 'policy.decided', stream: ['call', toolCallId], refs: { toolCallId }, payload };
}

export function consentFor(toolCallId: string): string {
  return consentDigest({
    toolCallId,
    attempt: 1,
    tenant: 'acme',
    principal: PRINCIPAL,
    capability: 'refund@1',
    manifestDigest: MANIFEST,
    argsDigest: jsonDigest(REFUND),
    target: TARGET,
    risk: 'high',
    policyRevision: REVISION,
    decideBy: DECIDE_BY,
    executeBy: EXECUTE_BY,
  });
}

function required(toolCallId: string, approvalId: string): Told {
  return {
    type: 'approval.required',
    stream: ['approval', approvalId],
    refs: { toolCallId, approvalId },
    payload: {
      risk: 'high',
      expiresAt: DECIDE_BY,
      decideBy: DECIDE_BY,
      executionWindowMs: 900_000,
      executeByLatest: EXECUTE_BY,
      attempt: 1,
      capability: 'refund',
      capabilityVersion: '1',
      manifestDigest: MANIFEST,
      argsDigest: jsonDigest(REFUND),
      consentDigest: consentFor(toolCallId),
      shown: SHOWN,
      shownDigest: jsonDigest(SHOWN),
      groups: [{ group: 'finance', count: 2, notRequester: true }],
      requesterSubjects: ['mia', 'agent-7'],
      reasons: [],
      policyRevision: REVISION,
    },
  };
}

function vote(toolCallId: string, approvalId: string, sub: string): Told {
  return {
    type: 'approval.vote_recorded',
    stream: ['approval', approvalId],
    refs: { toolCallId, approvalId },
    payload: { by: { sub }, decision: 'allow', groups: ['finance'], consentDigest: consentFor(toolCallId) },
  };
}

function ofApproval(type: EventType, toolCallId: string, approvalId: string, payload: JsonObject): Told {
  return { type, stream: ['approval', approvalId], refs: { toolCallId, approvalId }, payload };
}

function ofCall(type: EventType, toolCallId: string, payload: JsonObject): Told {
  return { type, stream: ['call', toolCallId], refs: { toolCallId }, payload };
}

function dispatching(toolCallId: string): Told {
  return ofCall('tool.call.dispatching', toolCallId, {
    attempt: 1,
    nonce: 'n1',
    fence: 1,
    owner: 'i1',
    ownerEpoch: 1,
    downstreamKey: 'cs_1',
    target: TARGET,
    deadline: DECIDE_BY,
    dispatchIntentAt: DECIDE_BY,
  });
}

const completed = (toolCallId: string): Told =>
  ofCall('tool.call.completed', toolCallId, {
    basis: 'direct',
    result: { refundId: 'r-1' },
    resultDigest: digestOf('result'),
    resultTruncated: false,
  });

const granted = (): Told =>
  ofApproval('approval.granted', 'call_1', 'apr_1', {
    decidedBy: ['ann', 'bob'],
    decidedAt: '2031-01-01T00:10:00.000Z',
    executeBy: '2031-01-01T00:25:00.000Z',
  });

const authorized = (toolCallId: string, basis: string): Told =>
  ofCall('capability.authorized', toolCallId, { basis, executeBy: EXECUTE_BY, attempt: 1 });

/** The positions of the story that its attacks aim at. */
export const AT = {
  runStarted: 0,
  proposed: 1,
  decided: 2,
  required: 3,
  firstVote: 4,
  secondVote: 5,
  granted: 6,
  authorized: 7,
  consumed: 8,
  dispatching: 9,
  completed: 10,
  other: 11,
  second: 12,
} as const;

/** One refund that two people allow, an entry of another tenant, and one refund that policy allows: 17 entries. */
export function storyUnits(): Told[][] {
  const started: Told = {
    type: 'run.started',
    stream: ['run', 'run_1'],
    payload: { implicit: true, principal: PRINCIPAL },
  };
  return [
    [started, proposed('call_1'), decidedBy('call_1', 'requires_confirmation'), required('call_1', 'apr_1')],
    [vote('call_1', 'apr_1', 'ann')],
    [vote('call_1', 'apr_1', 'bob'), granted(), authorized('call_1', 'approval')],
    [ofApproval('approval.consumed', 'call_1', 'apr_1', { attempt: 1, nonce: 'n1' }), dispatching('call_1')],
    [completed('call_1')],
    [
      {
        type: 'run.started',
        stream: ['run', 'run_9'],
        payload: { implicit: true, principal: PRINCIPAL },
        tenant: 'umbra',
      },
    ],
    [proposed('call_2'), decidedBy('call_2', 'allow'), authorized('call_2', 'policy'), dispatching('call_2')],
    [completed('call_2')],
  ];
}

export const story = (): LogEvent[] => tell(storyUnits());
