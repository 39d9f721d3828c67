import { countCall } from './run-call-facts.js';
import { listIn, objectIn, textIn, type ReadFact } from './fact-reading.js';
import type { RunDraft } from './run-draft.js';

type Apply = (draft: RunDraft, fact: ReadFact) => void;

const TERMINAL: readonly string[] = ['completed', 'failed', 'stopped', 'handed_off', 'ended_unrecorded'];

/** What each type of fact does to the run. */
const RUN: Readonly<Record<string, Apply>> = {
  'run.started': (draft, { payload }) => {
    draft.run.goalRef = textIn(payload, 'goalRef') ?? null;
  },
  'run.suspend_requested': (draft) => become(draft, 'suspending'),
  'run.suspended': (draft, fact) => {
    become(draft, 'suspended');
    checkpoint(draft, fact);
  },
  'run.resumed': (draft) => become(draft, 'running'),
  'run.interrupted': (draft, fact) => {
    become(draft, 'interrupted');
    checkpoint(draft, fact);
  },
  'stop.requested': (draft) => become(draft, 'stopping'),
  'run.completed': (draft) => become(draft, 'completed'),
  'run.failed': (draft) => become(draft, 'failed'),
  'run.stopped': (draft) => become(draft, 'stopped'),
  'run.handed_off': (draft) => become(draft, 'handed_off'),
  'run.marked_not_resumable': (draft) => become(draft, 'ended_unrecorded'),
  'checkpoint.created': checkpoint,
  'checkpoint.archived': ({ run }, { payload }) => {
    if (run.checkpointId === payload['checkpointId']) run.checkpointId = null;
  },
  'turn.started': ({ run }, { refs }) => {
    run.currentTurnId = refs.turnId ?? null;
  },
  'turn.ended': ({ run }, { refs }) => {
    if (run.currentTurnId === (refs.turnId ?? null)) run.currentTurnId = null;
  },
  'step.started': contextBuilt,
  'context.projection_recorded': contextBuilt,
  'session.harness_attached': harness,
  'versions.recorded': (draft, fact) => {
    const versions = objectIn(fact.payload, 'versions') ?? {};
    harness(draft, { ...fact, payload: versions });
    draft.runtime = { ...draft.runtime, modelVersion: textIn(versions, 'modelVersion') ?? draft.runtime.modelVersion };
  },
  'usage.recorded': (draft, { payload }) => {
    draft.runtime = { ...draft.runtime, modelVersion: textIn(payload, 'model') ?? draft.runtime.modelVersion };
  },
  'reasoning.recorded': (draft, { payload, refs }) => {
    draft.reasoning = {
      reasoningObjectId: refs.reasoningObjectId ?? '',
      conclusion: textIn(payload, 'conclusion') ?? '',
      knowledgeRefs: listIn(payload, 'knowledgeRefs'),
      risk: textIn(payload, 'risk') ?? '',
    };
  },
  'plan_review.required': ({ run }, { payload }) => {
    run.planReviewId = textIn(payload, 'planReviewId') ?? '';
  },
  'plan_review.decided': reviewEnded,
  'plan_review.closed': reviewEnded,
  'artifact.created': ({ artifacts }, { refs }) => {
    if (refs.artifactId !== undefined) artifacts.add(refs.artifactId);
  },
  'subagent.spawned': (draft, fact) => subagent(draft, fact, 'running'),
  'subagent.completed': (draft, fact) => subagent(draft, fact, 'completed'),
  'subagent.failed': (draft, fact) => subagent(draft, fact, 'failed'),
  'subagent.late_result': (draft, fact) => subagent(draft, fact, 'late'),
  'approval.required': ({ approvals }, { refs, payload }) => {
    const approvalId = refs.approvalId ?? '';
    approvals.set(approvalId, {
      approvalId,
      capabilityId: refs.capabilityId ?? '',
      toolCallId: refs.toolCallId ?? '',
      policyDecisionId: refs.policyDecisionId ?? '',
      status: 'pending',
      expiresAt: textIn(payload, 'expiresAt') ?? '',
    });
  },
  'approval.granted': ({ approvals }, { refs, payload }) => {
    const approval = approvals.get(refs.approvalId ?? '');
    if (approval === undefined) return;
    approval.status = 'granted';
    approval.expiresAt = textIn(payload, 'executeBy') ?? approval.expiresAt;
  },
  'approval.denied': approvalEnded,
  'approval.expired': approvalEnded,
  'approval.invalidated': approvalEnded,
  'approval.consumed': approvalEnded,
  'approval.closed': approvalEnded,
};

export function applyToRun(draft: RunDraft, fact: ReadFact): void {
  if (Object.hasOwn(RUN, fact.type)) RUN[fact.type]?.(draft, fact);
  else countCall(draft, fact);
}

/** An end is an end: nothing that comes late moves the run itself. */
function become(draft: RunDraft, status: string): void {
  if (!TERMINAL.includes(draft.status)) draft.status = status;
}

function checkpoint({ run }: RunDraft, { payload }: ReadFact): void {
  run.checkpointId = textIn(payload, 'checkpointId') ?? run.checkpointId;
}

function contextBuilt({ run }: RunDraft, { payload }: ReadFact): void {
  run.contextBuildId = textIn(payload, 'contextBuildId') ?? run.contextBuildId;
}

function harness(draft: RunDraft, { payload }: ReadFact): void {
  const harnessVersion = textIn(payload, 'harnessVersion') ?? draft.runtime.harnessVersion;
  draft.runtime = { ...draft.runtime, harnessVersion };
}

function reviewEnded({ run }: RunDraft, { payload }: ReadFact): void {
  if (run.planReviewId === payload['planReviewId']) delete run.planReviewId;
}

function approvalEnded({ approvals }: RunDraft, { refs }: ReadFact): void {
  approvals.delete(refs.approvalId ?? '');
}

function subagent({ subagents }: RunDraft, { payload }: ReadFact, status: string): void {
  const subagentId = textIn(payload, 'subagentId');
  if (subagentId !== undefined) subagents.set(subagentId, status);
}
