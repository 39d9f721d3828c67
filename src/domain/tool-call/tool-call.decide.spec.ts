import { describe, expect, it } from '@jest/globals';
import {
  at,
  authorization,
  callIn,
  completion,
  decision,
  dispatching,
  failure,
  proposal,
} from '../../../test/builders/tool-call-examples.js';
import type { ToolCallCommand } from './tool-call.commands.js';
import { decideToolCall } from './tool-call.decide.js';
import type { ToolCallState } from './tool-call.state.js';

const acceptedAt = at('10:00:02');
const sentAt = at('10:00:01');

/** The event types of an allowed command, in order, or the code of the refusal. */
function typesOf(state: ToolCallState | null, command: ToolCallCommand): readonly string[] | string {
  const decided = decideToolCall(state, command);
  return decided.ok ? decided.events.map(({ type }) => type) : decided.code;
}

/** The payload of one event of an allowed command. */
function payloadOf(state: ToolCallState, command: ToolCallCommand, type: string): unknown {
  const decided = decideToolCall(state, command);
  if (!decided.ok) throw new Error(decided.code);
  return decided.events.find((event) => event.type === type)?.payload;
}

const complete = (sent?: string | null): ToolCallCommand => ({
  kind: 'complete',
  completion: completion('direct'),
  acceptedAt,
  ...(sent === undefined ? {} : { sentAt: sent }),
});
const fail = (more: Parameters<typeof failure>[0], sent: string | null = null): ToolCallCommand => ({
  kind: 'fail',
  failure: failure(more),
  acceptedAt,
  sentAt: sent,
});

const dispatch = (now: string, more = {}): ToolCallCommand => ({
  kind: 'dispatch',
  dispatch: { ...dispatching(), ...more },
  now,
});
const retry = (state: ToolCallState, more = {}): ToolCallCommand => ({
  kind: 'accept_retry',
  retry: { attempt: state.attempt + 1, previousStatus: state.status, ...more },
});
const acknowledge = (sent: string | null, effect: 'none' | 'partial' = 'none'): ToolCallCommand => ({
  kind: 'acknowledge_cancellation',
  cancelled: { effect: 'none' },
  failure: failure({ code: 'cancelled', basis: 'cancelled', effect }),
  sentAt: sent,
});

describe('settling a call states every step that was not recorded on its own', () => {
  it('is dispatched, accepted and completed in one unit when the answer came at once', () => {
    expect(typesOf(callIn('dispatching'), complete(sentAt))).toEqual([
      'tool.call.dispatched',
      'tool.call.accepted',
      'tool.call.completed',
    ]);
  });

  it('does not state again that it was sent once that is recorded', () => {
    expect(typesOf(callIn('dispatched'), complete(sentAt))).toEqual(['tool.call.accepted', 'tool.call.completed']);
  });

  it('is only completed when it was accepted before', () => {
    expect(typesOf(callIn('accepted'), complete(sentAt))).toEqual(['tool.call.completed']);
  });

  it.each([null, undefined])('invents no time of sending (%s)', (unknown) => {
    expect(typesOf(callIn('dispatching'), complete(unknown))).toEqual(['tool.call.accepted', 'tool.call.completed']);
  });

  it('takes the times from the command and the basis from the rule', () => {
    const state = callIn('dispatching');
    expect(payloadOf(state, complete(sentAt), 'tool.call.dispatched')).toEqual({ dispatchedAt: sentAt });
    expect(payloadOf(state, complete(sentAt), 'tool.call.accepted')).toEqual({
      acceptedAt,
      basis: 'implicit_by_result',
      externalRequestId: 'r-1',
    });
  });

  it('gives the implied acceptance no reference when the result has none', () => {
    const { externalRequestId: _, ...withoutReference } = completion('direct');
    const command: ToolCallCommand = { kind: 'complete', completion: withoutReference, acceptedAt };
    expect(payloadOf(callIn('dispatched'), command, 'tool.call.accepted')).toEqual({
      acceptedAt,
      basis: 'implicit_by_result',
      externalRequestId: null,
    });
  });

  it('states that it was sent when the acceptance or the unknown result is the first news', () => {
    const state = callIn('dispatching');
    const acceptance = { acceptedAt, basis: 'ack' } as const;
    expect(typesOf(state, { kind: 'record_acceptance', acceptance, sentAt })).toEqual([
      'tool.call.dispatched',
      'tool.call.accepted',
    ]);
    expect(typesOf(state, { kind: 'mark_unknown', unknown: { cause: 'reset' }, sentAt })).toEqual([
      'tool.call.dispatched',
      'tool.call.result_unknown',
    ]);
    expect(typesOf(state, { kind: 'mark_unknown', unknown: { cause: 'owner_lost' } })).toEqual([
      'tool.call.result_unknown',
    ]);
  });
});

describe('a failure', () => {
  it.each(['not_sent', 'durability_failed'] as const)('that was never sent (%s) states nothing but itself', (basis) => {
    expect(typesOf(callIn('dispatching'), fail({ basis }))).toEqual(['tool.call.failed']);
    expect(typesOf(callIn('dispatched'), fail({ basis }))).toEqual(['tool.call.failed']);
  });

  it('before acceptance states that the request was sent, and no acceptance', () => {
    expect(typesOf(callIn('dispatching'), fail({ basis: 'rejected' }, sentAt))).toEqual([
      'tool.call.dispatched',
      'tool.call.failed',
    ]);
    expect(typesOf(callIn('dispatched'), fail({ basis: 'rejected' }))).toEqual(['tool.call.failed']);
  });

  it.each(['partial', 'full'] as const)('with a %s effect implies that the tool had accepted the request', (effect) => {
    expect(typesOf(callIn('dispatching'), fail({ effect }, sentAt))).toEqual([
      'tool.call.dispatched',
      'tool.call.accepted',
      'tool.call.failed',
    ]);
  });

  it('told by a callback implies the acceptance too', () => {
    expect(typesOf(callIn('dispatched'), fail({ basis: 'callback' }))).toEqual([
      'tool.call.accepted',
      'tool.call.failed',
    ]);
  });

  it('after acceptance is only itself, and can no longer be one that was never sent', () => {
    expect(typesOf(callIn('accepted'), fail({ effect: 'full' }))).toEqual(['tool.call.failed']);
    expect(typesOf(callIn('accepted'), fail({ basis: 'not_sent' }))).toBe('tool_call_not_ready');
  });
});

describe('dispatch', () => {
  it('is possible until the last millisecond before executeBy and not at it', () => {
    expect(typesOf(callIn('authorized'), dispatch('2031-01-01T11:59:59.999Z'))).toEqual(['tool.call.dispatching']);
    expect(typesOf(callIn('authorized'), dispatch(at('12:00:00')))).toBe('approval_expired');
  });

  it("obeys the caller's executeBefore in whatever zone it is written", () => {
    const state: ToolCallState = { ...callIn('authorized'), executeBefore: '2031-01-01T12:30:00+02:00' };
    expect(typesOf(state, dispatch(at('10:29:59')))).toEqual(['tool.call.dispatching']);
    expect(typesOf(state, dispatch(at('10:30:00')))).toBe('approval_expired');
    expect(typesOf({ ...state, executeBefore: null }, dispatch(at('10:30:00')))).toEqual(['tool.call.dispatching']);
  });

  it('throws for a deadline nobody can read instead of sending', () => {
    const state: ToolCallState = { ...callIn('authorized'), executeBefore: '2031-01-01 18:00' };
    expect(() => typesOf(state, dispatch(at('10:00:00')))).toThrow('RFC 3339');
  });

  it('throws for another attempt or another key: no fact is made of a mistake', () => {
    expect(() => typesOf(callIn('authorized'), dispatch(at('10:00:00'), { attempt: 2 }))).toThrow('attempt');
    expect(() => typesOf(callIn('authorized'), dispatch(at('10:00:00'), { downstreamKey: 'cs_other' }))).toThrow('key');
  });
});

describe('a denial at dispatch', () => {
  it('withdraws the authorisation first, so that denied is only ever reached from proposed', () => {
    const denial = { basis: 'policy_at_dispatch', reasons: ['limit'] } as const;
    expect(typesOf(callIn('authorized'), { kind: 'deny', denial })).toEqual([
      'capability.authorization_withdrawn',
      'tool.call.denied',
    ]);
    expect(typesOf(callIn('proposed'), { kind: 'deny', denial })).toEqual(['tool.call.denied']);
  });
});

describe('a retry', () => {
  it('re-enters at proposed and is judged again', () => {
    const state = callIn('failed_retryable');
    expect(typesOf(state, retry(state))).toEqual(['tool.call.retry_accepted']);
    expect(typesOf(state, { kind: 'record_decision', decision: decision('retry', 2) })).toEqual(['policy.decided']);
  });

  it('throws unless it is the next attempt and names the status it leaves', () => {
    const state = callIn('not_executed');
    expect(() => typesOf(state, retry(state, { attempt: 3 }))).toThrow('next attempt');
    expect(() => typesOf(state, retry(state, { previousStatus: 'failed' }))).toThrow('status it leaves');
  });

  it('of a rejection that the tool would only repeat is refused with a word of its own', () => {
    const state: ToolCallState = {
      ...callIn('failed_retryable'),
      status: 'failed',
      code: 'rejected',
      knownEffect: 'none',
      retryable: false,
    };
    expect(decideToolCall(state, retry(state))).toEqual({
      ok: false,
      code: 'retry_not_allowed',
      message: 'The tool would repeat its rejection for the unchanged key.',
    });
  });
});

describe('cancelling', () => {
  const request: ToolCallCommand = { kind: 'request_cancellation', cancellation: { deadline: at('10:00:20') } };
  const asked = { ...callIn('dispatching'), cancellationRequested: true, cancelBy: at('10:00:20') };
  it('is asked of the tool once; asking again adds nothing', () => {
    expect(typesOf(callIn('accepted'), request)).toEqual(['tool.cancellation_requested']);
    expect(typesOf({ ...callIn('accepted'), cancellationRequested: true }, request)).toEqual([]);
  });

  it('is acknowledged with what was sent, the cancellation and the failure, in this order', () => {
    expect(typesOf(asked, acknowledge(sentAt))).toEqual(['tool.call.dispatched', 'tool.cancelled', 'tool.call.failed']);
  });

  it.each([
    { code: 'rejected', basis: 'cancelled' as const },
    { code: 'cancelled', basis: 'rejected' as const },
  ])('throws when the failure beside it is not a cancellation ($code, $basis)', (more) => {
    const command: ToolCallCommand = {
      kind: 'acknowledge_cancellation',
      cancelled: { effect: 'none' },
      failure: failure(more),
      sentAt,
    };
    expect(() => typesOf(asked, command)).toThrow('fails as such');
  });

  it('throws when the cancellation and the failure disagree about the effect', () => {
    expect(() => typesOf(asked, acknowledge(sentAt, 'partial'))).toThrow('one effect');
  });
});

describe('evidence', () => {
  const resolution = { verdict: 'happened', evidenceRefs: ['probe-1'] } as const;

  it('resolves before it completes, as one unit', () => {
    const command: ToolCallCommand = { kind: 'resolve_happened', resolution, completion: completion('reconciliation') };
    expect(typesOf(callIn('reconciling'), command)).toEqual(['reconciliation.resolved', 'tool.call.completed']);
  });

  it('may be an object instead of references', () => {
    const command: ToolCallCommand = {
      kind: 'resolve_failed',
      resolution: { verdict: 'not_happened', evidenceRefs: [], evidence: { status: 404 } },
      failure: failure({ basis: 'reconciliation' }),
    };
    expect(typesOf(callIn('reconciling'), command)).toEqual(['reconciliation.resolved', 'tool.call.failed']);
  });

  it('for not_happened can not leave an effect, and a completion can not rest on not_happened', () => {
    const contradictions: ToolCallCommand[] = [
      {
        kind: 'resolve_failed',
        resolution: { ...resolution, verdict: 'not_happened' },
        failure: failure({ basis: 'reconciliation', effect: 'partial' }),
      },
      { kind: 'resolve_failed', resolution, failure: failure({ basis: 'reconciliation' }) },
      {
        kind: 'resolve_happened',
        resolution: { ...resolution, verdict: 'not_happened' },
        completion: completion('reconciliation'),
      },
      { kind: 'resolve_happened', resolution, completion: completion('direct') },
      {
        kind: 'resolve_failed',
        resolution: { ...resolution, verdict: 'failed' },
        failure: failure({ basis: 'rejected' }),
      },
    ];
    for (const command of contradictions) {
      expect(() => decideToolCall(callIn('reconciling'), command)).toThrow('broken invariant');
    }
  });

  it('is counted without a gap while it is looked for', () => {
    const query = { n: 3, result: 'unreachable', nextAt: at('10:10:00') } as const;
    expect(() => decideToolCall(callIn('reconciling'), { kind: 'record_query', query })).toThrow('without a gap');
    expect(typesOf(callIn('reconciling'), { kind: 'record_query', query: { ...query, n: 2 } })).toEqual([
      'reconciliation.attempted',
    ]);
  });
});

describe('commands that contradict themselves are mistakes of ours and throw', () => {
  it.each<[string, ToolCallCommand]>([
    ['completing by reconciliation', { kind: 'complete', completion: completion('reconciliation'), acceptedAt }],
    ['failing by reconciliation', fail({ basis: 'reconciliation' })],
    ['failing by a cancellation', fail({ basis: 'cancelled' })],
    ['having an effect without having been sent', fail({ basis: 'not_sent', effect: 'partial' })],
    ['having a time of sending without having been sent', fail({ basis: 'not_sent' }, sentAt)],
  ])('%s', (_, command) => {
    expect(() => decideToolCall(callIn('dispatching'), command)).toThrow('broken invariant');
  });

  it('authorising another attempt than the present one', () => {
    const command: ToolCallCommand = { kind: 'authorize', authorization: authorization(2) };
    expect(() => decideToolCall(callIn('proposed'), command)).toThrow('present attempt');
  });
});

describe('a refusal', () => {
  it('names the status and never an argument, a key or a digest', () => {
    const refused = decideToolCall(callIn('completed'), { kind: 'close', closing: { reason: 'stopped' } });
    expect(refused).toEqual({ ok: false, code: 'tool_call_already_ended', message: 'The call has ended: completed.' });
    expect(decideToolCall(callIn('proposed'), { kind: 'propose', proposal: proposal() })).toMatchObject({
      code: 'duplicate_id',
    });
  });
});
