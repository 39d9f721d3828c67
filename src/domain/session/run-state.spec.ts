import { describe, expect, it } from '@jest/globals';
import { at, governed, said } from '../../../test/builders/session-facts.js';
import type { JsonObject } from '../json/json-value.js';
import { foldRunState, RUN_STATE_CLASSES } from './run-state.js';
import type { SessionFact } from './session-row.js';
import type { SessionRunState } from './session-state.js';

type Making = (seq: number) => SessionFact;

const fact =
  (type: string, payload: JsonObject | null = {}, refs = {}): Making =>
  (seq) =>
    governed(seq, type, payload, refs);
const chat =
  (type: string, payload: JsonObject, refs = {}): Making =>
  (seq) =>
    said(seq, type, payload, { runId: 'run-1', turnId: 'turn-1', ...refs });

const STARTED = fact('run.started', { goalRef: 'refund-1' });
const REFS = { toolCallId: 'tool-1', capabilityId: 'pay@1', streamKind: 'call' };
const call = (type: string, payload: JsonObject = {}, toolCallId = 'tool-1'): Making =>
  fact(type, payload, { ...REFS, toolCallId });
const PROPOSED = call('tool.call.proposed', {
  capability: 'pay',
  idempotencyKey: 'key-1',
  downstreamKey: 'ds-1',
  callId: 'c1',
});
const DISPATCHING = call('tool.call.dispatching', { executionEnvironmentId: 'env-1', dispatchIntentAt: at(3) });
const DISPATCHED = call('tool.call.dispatched', { dispatchedAt: at(4), externalRequestId: 'ext-1' });
const UNKNOWN = call('tool.call.result_unknown', { cause: 'timeout', lastError: 'timeout' });
const APPROVAL = { ...REFS, approvalId: 'apr-1', policyDecisionId: 'pd-1', streamKind: 'approval' };
const ASKED = fact('approval.required', { expiresAt: at(50), risk: 'high' }, APPROVAL);
const REVIEW = fact('plan_review.required', { planReviewId: 'pr-1', plan: [] });

function after(...makings: Making[]): SessionRunState {
  const state = foldRunState(
    null,
    makings.map((making, seq) => making(seq)),
    'ses-1',
  );
  if (state === null) throw new Error('no run has started');
  return state;
}

const statusAfter = (...makings: Making[]): string => after(STARTED, ...makings).run.status;
const callAfter = (...makings: Making[]): SessionRunState['toolCalls'][number] | undefined =>
  after(STARTED, PROPOSED, ...makings).toolCalls[0];

describe('the state of a run', () => {
  it('is not there before a run has started', () => {
    expect(foldRunState(null, [said(0, 'user.message', {}), governed(1, 'session.harness_attached', {})])).toBeNull();
  });

  it('holds continuity, causality and control of side effects [K-72, K-73, K-55]', () => {
    const state = after(
      STARTED,
      fact('session.harness_attached', { harnessVersion: 'h-2', ownerEpoch: 1 }),
      chat('turn.started', {}),
      chat('context.projection_recorded', { contextBuildId: 'ctx-1' }),
      chat('usage.recorded', { model: 'model-7', tokens: {} }),
      fact(
        'reasoning.recorded',
        { conclusion: 'eligible', knowledgeRefs: ['k1'], risk: 'high' },
        { reasoningObjectId: 'ro-1' },
      ),
      PROPOSED,
      ASKED,
      fact('checkpoint.created', { checkpointId: 'cp-1', kind: 'awaiting_approval', seq: 7 }),
      fact('artifact.created', {}, { artifactId: 'art-1' }),
      fact('subagent.spawned', { subagentId: 'sub-1' }),
      fact('subagent.spawned', { subagentId: 'sub-2' }),
      fact('subagent.completed', { subagentId: 'sub-2', status: 'ok' }),
    );
    expect(state).toEqual({
      stateSchemaVersion: 2,
      session: { sessionId: 'ses-1', lastEventId: 'evt-12' },
      run: {
        runId: 'run-1',
        status: 'waiting_for_approval',
        goalRef: 'refund-1',
        currentTurnId: 'turn-1',
        checkpointId: 'cp-1',
        contextBuildId: 'ctx-1',
      },
      runtime: { harnessVersion: 'h-2', modelVersion: 'model-7', executionEnvironmentId: null },
      reasoning: { reasoningObjectId: 'ro-1', conclusion: 'eligible', knowledgeRefs: ['k1'], risk: 'high' },
      pendingApprovals: [
        {
          approvalId: 'apr-1',
          capabilityId: 'pay@1',
          toolCallId: 'tool-1',
          policyDecisionId: 'pd-1',
          status: 'pending',
          expiresAt: at(50),
        },
      ],
      toolCalls: [
        {
          toolCallId: 'tool-1',
          callId: 'c1',
          capabilityId: 'pay@1',
          status: 'proposed',
          idempotencyKey: 'key-1',
          externalRequestId: null,
          dispatchedAt: null,
          acceptedAt: null,
          resultRef: null,
          reconciliationStatus: 'not_required',
          lastError: null,
        },
      ],
      artifactRefs: ['art-1'],
      subagentRefs: [
        { subagentId: 'sub-1', status: 'running' },
        { subagentId: 'sub-2', status: 'completed' },
      ],
      outcomeVerification: { status: 'not_observed', feedbackRefs: [] },
    });
  });

  it('has a class for every part, and no class is empty [K-73]', () => {
    const parts = Object.keys(after(STARTED)).toSorted();
    expect(Object.keys(RUN_STATE_CLASSES).toSorted()).toEqual(parts);
    expect(new Set(Object.values(RUN_STATE_CLASSES)).size).toBe(3);
  });

  it('shows the unknown: a reference and a dispatch, no acceptance, and everything still to be found out [K-76]', () => {
    const state = after(
      STARTED,
      PROPOSED,
      DISPATCHING,
      DISPATCHED,
      UNKNOWN,
      fact('outcome.verification_opened', {}, { ...REFS, streamKind: 'outcome', streamId: 'tool-1' }),
      fact('checkpoint.created', { checkpointId: 'cp-2', kind: 'awaiting_reconciliation', seq: 6 }),
    );
    expect(state).toMatchObject({
      run: { status: 'awaiting_reconciliation', checkpointId: 'cp-2' },
      runtime: { executionEnvironmentId: 'env-1' },
      toolCalls: [
        {
          status: 'result_unknown',
          idempotencyKey: 'key-1',
          externalRequestId: 'ext-1',
          dispatchedAt: at(4),
          acceptedAt: null,
          reconciliationStatus: 'pending',
          lastError: 'response_timeout',
        },
      ],
      outcomeVerification: { status: 'pending' },
    });
  });

  it('begins anew with the next run; facts about an earlier one change nothing of it [R19]', () => {
    const state = after(
      STARTED,
      PROPOSED,
      fact('session.harness_attached', { harnessVersion: 'h-2' }),
      fact('run.completed'),
      fact('run.started', { goalRef: 'next' }, { runId: 'run-2' }),
      UNKNOWN,
      fact('run.failed', { lastError: {} }),
    );
    expect(state).toMatchObject({
      run: { runId: 'run-2', status: 'running', goalRef: 'next' },
      runtime: { harnessVersion: 'h-2' },
      toolCalls: [],
    });
  });
});

describe('its status', () => {
  it.each<[string, Making[]]>([
    ['running', []],
    ['waiting_for_plan_review', [REVIEW]],
    ['waiting_for_approval', [REVIEW, ASKED]],
    ['awaiting_reconciliation', [REVIEW, ASKED, PROPOSED, UNKNOWN]],
    ['interrupted', [REVIEW, ASKED, PROPOSED, UNKNOWN, fact('run.interrupted')]],
    ['suspended', [ASKED, PROPOSED, UNKNOWN, fact('run.suspended')]],
    ['suspending', [ASKED, PROPOSED, UNKNOWN, fact('run.suspend_requested')]],
    ['stopping', [ASKED, PROPOSED, UNKNOWN, fact('stop.requested')]],
    ['stopped', [ASKED, PROPOSED, UNKNOWN, fact('stop.requested'), fact('run.stopped', null)]],
  ])('is %s, the first that applies', (status, makings) => {
    expect(statusAfter(...makings)).toBe(status);
  });

  it('is the wait that still holds when an earlier one ends, and the run again after the last', () => {
    const waits = [REVIEW, ASKED, PROPOSED, UNKNOWN];
    const found = call('tool.call.completed', { basis: 'reconciliation' });
    const granted = fact('approval.granted', { executeBy: at(60) }, APPROVAL);
    expect(statusAfter(...waits, found)).toBe('waiting_for_approval');
    expect(statusAfter(...waits, found, granted)).toBe('waiting_for_plan_review');
    const reviewed = fact('plan_review.decided', { planReviewId: 'pr-1', decision: 'allow' });
    expect(statusAfter(...waits, found, granted, reviewed)).toBe('running');
    expect(statusAfter(...waits, fact('run.suspended'), fact('run.resumed'))).toBe('awaiting_reconciliation');
  });

  it.each(['completed', 'failed', 'stopped', 'handed_off'])('stays %s whatever comes late [R19]', (end) => {
    const late = ['run.resumed', 'run.interrupted', 'stop.requested', 'run.completed', 'run.failed'].map((type) =>
      fact(type),
    );
    expect(statusAfter(fact(`run.${end}`), ...late, ASKED, PROPOSED, UNKNOWN)).toBe(end);
  });

  it('tells that the end could not be recorded', () => {
    expect(statusAfter(fact('run.marked_not_resumable'))).toBe('ended_unrecorded');
  });
});

describe('its calls', () => {
  it('keep the ids under which the effect can be looked up, until a retry on proof [K-75]', () => {
    const unknown = callAfter(DISPATCHING, DISPATCHED, UNKNOWN);
    const kept = { toolCallId: 'tool-1', idempotencyKey: 'key-1', externalRequestId: 'ext-1' };
    expect(unknown).toMatchObject(kept);
    const asking = [DISPATCHING, DISPATCHED, UNKNOWN, call('reconciliation.started')];
    expect(callAfter(...asking)).toMatchObject({ ...kept, status: 'reconciling', reconciliationStatus: 'in_progress' });
    const absent = [
      call('reconciliation.resolved', { verdict: 'not_happened' }),
      call('tool.call.failed', { code: 'absent' }),
    ];
    expect(callAfter(...asking, ...absent)).toMatchObject({
      ...kept,
      status: 'failed',
      reconciliationStatus: 'resolved',
      lastError: 'absent',
    });
    expect(callAfter(...asking, ...absent, call('tool.call.retry_accepted', { attempt: 2 }))).toMatchObject({
      idempotencyKey: 'key-1',
      status: 'proposed',
      externalRequestId: null,
      dispatchedAt: null,
      reconciliationStatus: 'not_required',
    });
  });

  it('are resolved by an answer that comes by itself', () => {
    const late = call('tool.call.completed', { basis: 'callback', externalRequestId: 'ext-9' });
    expect(callAfter(DISPATCHING, UNKNOWN, late)).toMatchObject({
      status: 'completed',
      resultRef: 'evt-4',
      externalRequestId: 'ext-9',
      reconciliationStatus: 'resolved',
      lastError: null,
    });
    expect(callAfter(DISPATCHING, late)?.reconciliationStatus).toBe('not_required');
  });

  it.each<[string, JsonObject, string]>([
    ['happened', { finding: 'happened' }, 'resolved'],
    ['unknowable', { finding: 'unknowable' }, 'inconclusive'],
  ])('are handed to a person and stay so, found %s', (_, finding, reconciliationStatus) => {
    const handed = [DISPATCHING, UNKNOWN, call('tool.call.manual_handoff', { reason: 'operator' })];
    expect(callAfter(...handed)).toMatchObject({ status: 'manual_handoff', reconciliationStatus: 'handed_off' });
    expect(callAfter(...handed, call('manual.handoff_resolved', finding))).toMatchObject({
      status: 'manual_handoff',
      reconciliationStatus,
    });
  });

  it('follow what is decided and what is withdrawn', () => {
    expect(callAfter(call('capability.authorized'))?.status).toBe('authorized');
    expect(callAfter(call('capability.authorized'), call('capability.authorization_withdrawn'))?.status).toBe(
      'proposed',
    );
    expect(callAfter(call('tool.call.denied'))?.status).toBe('denied');
    expect(callAfter(call('tool.call.not_executed', { reason: 'stopped' }))).toMatchObject({
      status: 'not_executed',
      lastError: 'stopped',
    });
    expect(callAfter(DISPATCHING, call('tool.call.accepted', { acceptedAt: at(9) }))).toMatchObject({
      acceptedAt: at(9),
    });
  });

  it('are known by the key of the tool where the caller gave none', () => {
    const state = after(
      STARTED,
      call('tool.call.proposed', { capability: 'pay', capabilityVersion: '1', downstreamKey: 'ds-1' }),
    );
    expect(state.toolCalls[0]?.idempotencyKey).toBe('ds-1');
  });
});

describe('its approvals and outcome', () => {
  it('show approvals that may still lead to an effect, with the deadline in force', () => {
    const granted = fact('approval.granted', { executeBy: at(60) }, APPROVAL);
    expect(after(STARTED, ASKED, granted).pendingApprovals).toMatchObject([{ status: 'granted', expiresAt: at(60) }]);
    for (const end of ['denied', 'expired', 'invalidated', 'consumed', 'closed']) {
      expect(after(STARTED, ASKED, fact(`approval.${end}`, {}, APPROVAL)).pendingApprovals).toEqual([]);
    }
  });

  it('show the worst of what feedback says, and never what the execution says', () => {
    const outcome = (type: string, toolCallId: string, payload: JsonObject = {}): Making =>
      fact(type, payload, { streamKind: 'outcome', streamId: toolCallId });
    const two = [
      PROPOSED,
      call('tool.call.proposed', { capability: 'pay' }, 'tool-2'),
      outcome('outcome.verification_opened', 'tool-1'),
      outcome('outcome.verification_opened', 'tool-2'),
      call('tool.call.completed'),
    ];
    const met = outcome('feedback.success_criteria_met', 'tool-1');
    const seen = (...more: Making[]): string => after(STARTED, ...two, ...more).outcomeVerification.status;
    expect(seen()).toBe('pending');
    expect(seen(met)).toBe('pending');
    expect(seen(met, outcome('feedback.success_criteria_met', 'tool-2'))).toBe('confirmed_success');
    expect(seen(met, outcome('feedback.inconclusive', 'tool-2'))).toBe('inconclusive');
    expect(seen(outcome('feedback.success_criteria_failed', 'tool-2'))).toBe('confirmed_failure');
    expect(seen(met, outcome('feedback.contradiction_recorded', 'tool-1'))).toBe('pending');
    const heard = outcome('feedback.received', 'tool-2', { feedbackId: 'f-1' });
    const again = after(STARTED, ...two, met, outcome('feedback.inconclusive', 'tool-2'), heard, heard);
    expect(again.outcomeVerification).toEqual({ status: 'pending', feedbackRefs: ['f-1'] });
  });
});
