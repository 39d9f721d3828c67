import type { ApprovalRepresentation, DecisionBody } from '../../client/contract/approvals.js';
import type { AcceptedCommand, CommandRepresentation, ControlBody } from '../../client/contract/control.js';
import type { EventRepresentation } from '../../client/contract/events.js';
import type { DeadLetterReplayBody, SinkReplayBody } from '../../client/contract/outbox.js';
import type { FeedbackBody } from '../../client/contract/feedback.js';
import type { StatementBody } from '../../client/contract/late-evidence.js';
import type { Problem } from '../../client/contract/problem.js';
import type { CompensationBody } from '../../client/contract/run-control.js';
import type {
  ArtifactBody,
  FailRunBody,
  OpenRunBody,
  ReasoningBody,
  SubagentBody,
  SubagentEndBody,
  TurnBody,
} from '../../client/contract/run-chain.js';
import type { ProposeToolCallBody, ResolutionBody, ToolCallRepresentation } from '../../client/contract/tool-calls.js';
import { APPROVAL_EXAMPLES } from './approval-examples.js';
import { LEASE_EXAMPLES } from './lease-examples.js';
import { POLICY_EXAMPLES } from './policy-examples.js';
import { SECRET_EXAMPLES } from './secret-examples.js';
import { SESSION_EXAMPLES } from './session-examples.js';

const CALL = 'call_01jz0q6k3v5m8x2c4d7f9h1k3n';
const APPROVAL = 'apr_01jz0q6k3v5m8x2c4d7f9h1k3p';
const RUN = 'run_01jz0q6k3v5m8x2c4d7f9h1k3q';
const DIGEST = `sha256:${'5e'.repeat(32)}`;
const AT = '2031-01-01T09:00:00.000Z';
const LATER = '2031-01-01T10:00:00.000Z';
const TO_CALL = `/v1/tool-calls/${CALL}`;
const TO_APPROVAL = `/v1/approvals/${APPROVAL}`;

const args = { orderId: 'ord_1001', amountMinor: 7000, currency: 'EUR' };

const proposal: ProposeToolCallBody = {
  capability: 'refund.create',
  arguments: args,
  reason: 'The parcel arrived damaged; the customer sent photos.',
};

const call: ToolCallRepresentation = {
  toolCallId: CALL,
  status: 'proposed',
  waitingFor: 'approval',
  attempt: 1,
  capability: 'refund.create',
  capabilityVersion: '1.0.0',
  arguments: args,
  argsDigest: DIGEST,
  runId: RUN,
  turnId: null,
  callId: null,
  idempotencyKey: 'refund-ord_1001-1',
  decision: {
    outcome: 'requires_confirmation',
    reasons: ['Refunds above 50.00 need a support lead other than the requester.'],
    policyRevision: DIGEST,
    determining: ['refunds.above-50-needs-a-lead'],
  },
  approval: {
    approvalId: APPROVAL,
    status: 'pending',
    decideBy: LATER,
    executeBy: null,
    needed: [{ group: 'support-lead', count: 1, have: 0 }],
    link: TO_APPROVAL,
  },
  result: null,
  resultTruncated: false,
  resultRef: null,
  externalRequestId: null,
  error: null,
  mayHaveHappened: false,
  contradicted: false,
  retryAllowed: false,
  retryReasons: [],
  reconciliation: null,
  resolution: null,
  cancellation: null,
  compensates: null,
  compensatedBy: null,
  outcome: { status: 'pending', evidenceRefs: [] },
  guidance: 'The call waits for an approval; do not call again.',
  createdAt: AT,
  updatedAt: AT,
  position: 41,
  links: { self: TO_CALL, run: `/v1/runs/${RUN}`, approval: TO_APPROVAL },
};

const resolution: ResolutionBody = { finding: 'happened', evidenceRefs: ['statement 2031-01, line 12'] };

const statement: StatementBody = {
  statementId: '2031-01-01',
  capability: 'refund.create',
  lines: [{ lineId: '17', finding: 'happened', reference: 're_9', effect: { bookedOn: '2031-01-01' } }],
};
const compensation: CompensationBody = { reason: 'The order was charged twice.' };

const approval: ApprovalRepresentation = {
  approvalId: APPROVAL,
  status: 'pending',
  toolCallId: CALL,
  runId: RUN,
  attempt: 1,
  capability: 'refund.create',
  capabilityVersion: '1.0.0',
  title: 'Refund an order',
  description: 'Pays back a part or all of what a customer paid for one order.',
  risk: 'high',
  effect: 'probeable',
  arguments: args,
  argumentsEmpty: false,
  argumentsLong: false,
  target: { orderId: 'ord_1001' },
  digest: DIGEST,
  argsDigest: DIGEST,
  shownDigest: DIGEST,
  requester: { sub: 'sam', act: 'support-agent' },
  agentReason: 'The parcel arrived damaged; the customer sent photos.',
  reasons: ['Refunds above 50.00 need a support lead other than the requester.'],
  determining: ['refunds.above-50-needs-a-lead'],
  policyRevision: DIGEST,
  decideBy: LATER,
  executeByLatest: LATER,
  executeBy: null,
  needed: [{ group: 'support-lead', count: 1, have: 0, notRequester: true }],
  votes: [],
  batchId: null,
  delegations: [],
  escalations: [],
  escalateAt: null,
  breakGlass: null,
  decidedBy: null,
  statusReason: null,
  createdAt: AT,
  updatedAt: AT,
  links: { self: TO_APPROVAL, decision: `${TO_APPROVAL}/decision`, toolCall: TO_CALL },
};

const decision: DecisionBody = { decision: 'allow', digest: DIGEST, reason: 'Photos seen.' };

const commands: readonly ControlBody[] = [
  { type: 'cancel', target: { toolCallId: CALL }, reason: 'The customer withdrew.' },
  { type: 'resume', target: { approvalId: APPROVAL }, decision: 'deny', digest: DIGEST },
  { type: 'retry', target: { toolCallId: CALL } },
  { type: 'pause', target: { capability: 'refund.create' }, commandId: 'pause-refunds-2031-01-01' },
  { type: 'unpause', target: 'tenant' },
  { type: 'reload', target: 'policies' },
  { type: 'reload', target: { sessionId: 'ticket-4711' } },
  { type: 'resume_authorized' },
  { type: 'accept_restore', target: 'store', reason: 'The disk is lost; the books of the provider were compared.' },
];

const accepted: AcceptedCommand = {
  commandId: 'pause-refunds-2031-01-01',
  status: 'accepted',
  links: { self: '/v1/control/pause-refunds-2031-01-01' },
};

const command: CommandRepresentation = {
  commandId: 'pause-refunds-2031-01-01',
  type: 'pause',
  status: 'rejected',
  code: 'already_paused',
  message: 'the target is paused already',
  receivedAt: AT,
  eventIds: ['evt_01jz0q6k3v5m8x2c4d7f9h1k3r'],
  links: { self: '/v1/control/pause-refunds-2031-01-01' },
};

const event: EventRepresentation = {
  position: 41,
  eventId: 'evt_01jz0q6k3v5m8x2c4d7f9h1k3r',
  eventType: 'approval.granted',
  schemaVersion: 1,
  streamKind: 'approval',
  streamId: APPROVAL,
  version: 3,
  runId: RUN,
  toolCallId: CALL,
  approvalId: APPROVAL,
  actor: { sub: 'lena' },
  correlationId: CALL,
  causationId: 'evt_01jz0q6k3v5m8x2c4d7f9h1k3s',
  causeKind: 'event',
  occurredAt: AT,
  recordedAt: AT,
  payload: { decidedBy: ['lena'], executeBy: LATER },
};

const refusal: Problem = {
  type: 'urn:countersign:error:version_stale',
  title: 'version stale',
  status: 412,
  code: 'version_stale',
  detail: 'the approval has changed since it was read',
  mend: 'Read the resource again and send its current ETag in If-Match.',
  approvalId: APPROVAL,
};

const deadLetters: DeadLetterReplayBody[] = [
  { sink: 'siem', position: 'all' },
  { sink: 'billing-hook', position: 41 },
];

const deliveries: SinkReplayBody = { fromPosition: 0, toPosition: 9999 };

const openRun: OpenRunBody = { label: 'ticket-4711', goalRef: 'tickets/4711' };
const turn: TurnBody = { clientId: 'turn-3' };
const reasoning: ReasoningBody = {
  clientId: 'turn-3-why',
  goalRef: 'tickets/4711',
  conclusion: 'The parcel arrived damaged, so the order is refunded in full.',
  evidenceRefs: ['tickets/4711/photos'],
  risk: 'medium',
};
const artifact: ArtifactBody = {
  clientId: 'letter-1',
  goalRef: 'tickets/4711',
  mediaType: 'text/plain',
  digest: DIGEST,
  location: 'documents/letter-1.txt',
};
const subagent: SubagentBody = { clientId: 'lookup-1', childSessionId: RUN, goalRef: 'tickets/4711' };
const subagentEnd: SubagentEndBody = { status: 'completed' };
const failRun: FailRunBody = { code: 'model_failed' };

const feedback: FeedbackBody = {
  feedbackId: 'statement-2031-01-02-17',
  verdict: 'met',
  criteriaId: 'money-arrived',
  criteriaVersion: '1',
  verifiedAt: AT,
  evidenceRefs: [{ kind: 'bank_statement', ref: 'statements/2031-01-02#17' }],
};

/** Examples by the id of the schema they show; a test holds them against it. */
export const EXAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  ProposeToolCall: [proposal],
  ToolCall: [call],
  Resolution: [resolution],
  Statement: [statement],
  Compensation: [compensation],
  Approval: [approval],
  ApprovalDecision: [decision],
  ControlCommand: commands,
  AcceptedCommand: [accepted],
  Command: [command],
  DeadLetterReplay: deadLetters,
  SinkReplay: [deliveries],
  OpenRun: [openRun],
  Turn: [turn],
  Reasoning: [reasoning],
  Artifact: [artifact],
  Subagent: [subagent],
  SubagentEnd: [subagentEnd],
  CompleteRun: [{}],
  FailRun: [failRun],
  ...SESSION_EXAMPLES,
  ...LEASE_EXAMPLES,
  ...APPROVAL_EXAMPLES,
  ...POLICY_EXAMPLES,
  ...SECRET_EXAMPLES,
  Feedback: [feedback],
  Event: [event],
  Problem: [refusal],
};
