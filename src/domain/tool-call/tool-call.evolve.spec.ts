import { describe, expect, it } from '@jest/globals';
import {
  at,
  callIn,
  completion,
  dispatching,
  failure,
  HISTORIES,
  proposal,
} from '../../../test/builders/tool-call-examples.js';
import type { DomainEvent } from '../events/catalogue.js';
import { evolveToolCall, foldToolCall } from './tool-call.evolve.js';
import type { ToolCallState } from './tool-call.state.js';

const LIFE = {
  capability: 'refund.create',
  capabilityVersion: '1.0.0',
  manifestDigest: 'sha256:manifest',
  effect: 'probeable',
  risk: 'high',
  principal: { sub: 'alice', act: 'agent-7' },
  argsDigest: 'sha256:args',
  intentDigest: 'sha256:intent',
  downstreamKey: 'cs_key',
  executeBefore: at('18:00:00'),
  attempt: 1,
  compensates: null,
  cancellationRequested: false,
  cancelBy: null,
  irreversible: null,
  compensatedBy: null,
  externalRequestId: null,
  contradicted: false,
  reserved: null,
};
const CARRYING = { nonce: 'nonce-1', fence: 3, owner: 'ins_1', ownerEpoch: 2, deadline: at('10:00:30') };

describe('folding a tool call', () => {
  it('starts with what the proposal says, and without its arguments', () => {
    expect(callIn('proposed')).toEqual({ ...LIFE, status: 'proposed' });
  });

  it('has no executeBefore and no agent when the proposal has none', () => {
    const { executeBefore: _, ...bare } = proposal({ principal: { sub: 'bob' } });
    const state = evolveToolCall(null, { type: 'tool.call.proposed', payload: bare });
    expect(state.executeBefore).toBeNull();
    expect(state.principal).toEqual({ sub: 'bob' });
  });

  it('keeps in each status exactly what that status has', () => {
    const referenced = { ...LIFE, externalRequestId: 'r-1' };
    expect(callIn('authorized')).toEqual({ ...LIFE, status: 'authorized', basis: 'policy', executeBy: at('12:00:00') });
    expect(callIn('dispatching')).toEqual({ ...LIFE, status: 'dispatching', ...CARRYING });
    expect(callIn('dispatched')).toEqual({ ...LIFE, status: 'dispatched', ...CARRYING });
    expect(callIn('accepted')).toEqual({ ...referenced, status: 'accepted', ...CARRYING });
    expect(callIn('result_unknown')).toEqual({
      ...referenced,
      status: 'result_unknown',
      cause: 'timeout',
      ...CARRYING,
    });
    expect(callIn('reconciling')).toEqual({
      ...referenced,
      status: 'reconciling',
      ...CARRYING,
      cause: 'timeout',
      strategy: 'query_by_idempotency_key',
      reconciliationDeadline: at('11:00:00'),
      queries: 1,
      nextQueryAt: at('10:05:00'),
    });
    expect(callIn('completed')).toEqual({ ...referenced, status: 'completed', resultBasis: 'direct' });
    expect(callIn('failed_retryable')).toEqual({
      ...LIFE,
      status: 'failed',
      code: 'rejected',
      knownEffect: 'none',
      retryable: true,
    });
    expect(callIn('denied')).toEqual({ ...LIFE, status: 'denied', deniedBy: 'policy' });
    expect(callIn('not_executed')).toEqual({ ...LIFE, status: 'not_executed', reason: 'authorization_expired' });
  });

  it('keeps a handoff open until a person has found something out', () => {
    const open = { ...LIFE, externalRequestId: 'r-1', status: 'manual_handoff', handoffId: 'hnd_1' };
    expect(callIn('handoff_open')).toEqual({ ...open, resolution: null });
    expect(callIn('handoff_not_happened')).toEqual({
      ...open,
      resolution: { finding: 'not_happened', evidenceRefs: ['statement-9'] },
    });
  });

  it('keeps the reference of the provider that an event does not repeat', () => {
    const { externalRequestId: _, ...withoutReference } = completion('direct');
    const state = evolveToolCall(callIn('accepted'), { type: 'tool.call.completed', payload: withoutReference });
    expect(state.externalRequestId).toBe('r-1');
  });

  it('takes the authorisation back with nothing of it left', () => {
    const event: DomainEvent = { type: 'capability.authorization_withdrawn', payload: { reason: 'policy_changed' } };
    expect(evolveToolCall(callIn('authorized'), event)).toEqual(callIn('proposed'));
  });

  it('gives a retry the next number, the same key and no reference of the attempt before', () => {
    const failed: ToolCallState = { ...callIn('failed_retryable'), externalRequestId: 'r-0' };
    const retried = evolveToolCall(failed, {
      type: 'tool.call.retry_accepted',
      payload: { attempt: 2, previousStatus: 'failed' },
    });
    expect(retried).toEqual({ ...LIFE, attempt: 2, status: 'proposed' });
  });

  it('remembers that the tool was asked to cancel until it answers or the call ends', () => {
    const asked = evolveToolCall(callIn('accepted'), {
      type: 'tool.cancellation_requested',
      payload: { deadline: at('10:00:20') },
    });
    expect(asked).toEqual({ ...callIn('accepted'), cancellationRequested: true, cancelBy: at('10:00:20') });
    const answers: DomainEvent[] = [
      { type: 'external_action_irreversible', payload: { reason: 'too_late' } },
      { type: 'tool.cancelled', payload: { effect: 'none' } },
      { type: 'tool.call.completed', payload: completion('direct') },
      { type: 'tool.call.failed', payload: failure() },
    ];
    for (const answer of answers) {
      expect(evolveToolCall(asked, answer)).toMatchObject({ cancellationRequested: false, cancelBy: null });
    }
    const unknown = evolveToolCall(asked, {
      type: 'tool.call.result_unknown',
      payload: { cause: 'cancel_unanswered' },
    });
    expect(unknown.cancellationRequested).toBe(true);
  });

  it('knows that evidence contradicts its end, and keeps the end', () => {
    const event = {
      type: 'tool.call.contradiction_recorded',
      payload: { evidenceRefs: ['cb'], meaning: 'failed' },
    } as const;
    expect(evolveToolCall(callIn('completed'), event)).toEqual({ ...callIn('completed'), contradicted: true });
  });

  it('learns the reference of the tool from evidence, once', () => {
    const told = (externalRequestId: string): DomainEvent => ({
      type: 'tool.call.callback_received',
      payload: { callbackId: 'cb', source: 's', meaning: 'pending', externalRequestId },
    });
    const learned = evolveToolCall(callIn('dispatched'), told('r-7'));
    expect(learned).toEqual({ ...callIn('dispatched'), externalRequestId: 'r-7' });
    expect(evolveToolCall(learned, told('r-8'))).toEqual(learned);
  });

  it('remembers that nobody can stop the attempt, until a retry begins another', () => {
    const irreversible = evolveToolCall(callIn('dispatched'), {
      type: 'external_action_irreversible',
      payload: { reason: 'not_supported' },
    });
    expect(irreversible).toMatchObject({ status: 'dispatched', irreversible: 'not_supported' });
    const end = evolveToolCall(irreversible, { type: 'tool.call.failed', payload: failure() });
    expect(end.irreversible).toBe('not_supported');
    const retried: DomainEvent = {
      type: 'tool.call.retry_accepted',
      payload: { attempt: 2, previousStatus: 'failed' },
    };
    expect(evolveToolCall(end, retried).irreversible).toBeNull();
  });

  it('names the call that undoes it, and the call that it undoes', () => {
    const payload = { compensatesToolCallId: 'call_1', newToolCallId: 'call_2' };
    const undone = evolveToolCall(callIn('completed'), { type: 'compensation.requested', payload });
    expect(undone).toEqual({ ...callIn('completed'), compensatedBy: 'call_2' });
    const undoing = proposal({ compensatesToolCallId: 'call_1' });
    expect(evolveToolCall(null, { type: 'tool.call.proposed', payload: undoing }).compensates).toBe('call_1');
  });

  it('is not moved by what is only recorded', () => {
    const recorded: DomainEvent[] = [
      { type: 'tool.call.callback_received', payload: { callbackId: 'cb', source: 's', meaning: 'happened' } },
      { type: 'tool.call.callback_ignored', payload: { callbackId: 'cb', reason: 'duplicate' } },
    ];
    for (const event of recorded) expect(evolveToolCall(callIn('completed'), event)).toEqual(callIn('completed'));
  });

  it('never changes the state it is given', () => {
    for (const history of Object.values(HISTORIES).flat()) {
      let state: ToolCallState | null = null;
      for (const event of history) {
        const before = structuredClone(state);
        const next: ToolCallState = evolveToolCall(state, event);
        expect(state).toEqual(before);
        state = Object.freeze(next);
      }
    }
  });

  it('does not judge: what is recorded has happened, even where decide would have refused', () => {
    const event: DomainEvent = { type: 'tool.call.denied', payload: { basis: 'policy', reasons: [] } };
    expect(evolveToolCall(callIn('completed'), event).status).toBe('denied');
  });
});

describe('a history that can not be folded stops the work', () => {
  it.each<[string, ToolCallState | null, DomainEvent]>([
    ['an event of another stream', callIn('proposed'), { type: 'approval.closed', payload: { reason: 'stopped' } }],
    ['no proposal first', null, { type: 'tool.call.dispatching', payload: dispatching() }],
    [
      'sent without dispatching',
      callIn('authorized'),
      { type: 'tool.call.dispatched', payload: { dispatchedAt: at('10:00:00') } },
    ],
    [
      'reconciliation without an unknown result',
      callIn('accepted'),
      { type: 'reconciliation.started', payload: { strategy: 'human', deadline: at('11:00:00') } },
    ],
    [
      'a query without reconciliation',
      callIn('result_unknown'),
      { type: 'reconciliation.attempted', payload: { n: 1, result: 'unreachable', nextAt: at('10:10:00') } },
    ],
    [
      'a handoff opened without one',
      callIn('reconciling'),
      { type: 'manual.handoff_opened', payload: { handoffId: 'h', packet: {} } },
    ],
    ['an unknown effect', null, { type: 'tool.call.proposed', payload: proposal({ effect: 'magic' }) }],
    ['an unknown risk', null, { type: 'tool.call.proposed', payload: proposal({ risk: 'none' }) }],
    ['a principal without a subject', null, { type: 'tool.call.proposed', payload: proposal({ principal: {} }) }],
  ])('%s', (_, state, event) => {
    expect(() => evolveToolCall(state, event)).toThrow();
  });

  it('gives no state for no events', () => {
    expect(foldToolCall(null, [])).toBeNull();
  });
});
