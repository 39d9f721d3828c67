import { describe, expect, it } from '@jest/globals';
import { callIn, callsIn, HISTORIES } from '../../../test/builders/tool-call-examples.js';
import { decideToolCall } from '../tool-call/tool-call.decide.js';
import { foldToolCall } from '../tool-call/tool-call.evolve.js';
import { NOT_EXECUTED_REASONS, type HandoffFinding, type KnownEffect } from '../events/catalogue.js';
import { isTerminal, type ToolCallState } from '../tool-call/tool-call.state.js';
import { SITUATIONS, type Situation } from '../tool-call/tool-call.transitions.js';
import { dispositionOf } from './disposition.js';

const PRESENT = SITUATIONS.filter((situation): situation is Exclude<Situation, 'none'> => situation !== 'none');
const EVERY_STATE = PRESENT.flatMap((situation) =>
  callsIn(situation).flatMap((state) => (state === null ? [] : [{ situation, state }])),
);

const failed = (knownEffect: KnownEffect, retryable = true): ToolCallState => ({
  ...callIn('proposed'),
  status: 'failed',
  code: 'rejected',
  knownEffect,
  retryable,
});
const found = (finding: HandoffFinding, evidenceRefs: string[] = ['statement-9']): ToolCallState => ({
  ...callIn('proposed'),
  status: 'manual_handoff',
  handoffId: 'hnd_1',
  resolution: { finding, evidenceRefs },
});

describe('the disposition of a call', () => {
  it.each<[string, ToolCallState, string, boolean, string[], string | null]>([
    ['proposed', callIn('proposed'), 'no', false, ['retry_not_allowed', 'proposed'], 'approval'],
    ['authorized', callIn('authorized'), 'no', false, ['retry_not_allowed', 'authorized'], 'execution'],
    ['dispatching', callIn('dispatching'), 'unknown', false, ['retry_not_allowed', 'dispatching'], 'execution'],
    ['dispatched', callIn('dispatched'), 'unknown', false, ['retry_not_allowed', 'dispatched'], 'upstream'],
    ['accepted', callIn('accepted'), 'unknown', false, ['retry_not_allowed', 'accepted'], 'upstream'],
    [
      'of unknown result',
      callIn('result_unknown'),
      'unknown',
      false,
      ['retry_forbidden_result_unknown', 'result_unknown'],
      'reconciliation',
    ],
    [
      'being reconciled',
      callIn('reconciling'),
      'unknown',
      false,
      ['retry_forbidden_result_unknown', 'reconciling'],
      'reconciliation',
    ],
    ['completed', callIn('completed'), 'yes', false, ['retry_not_allowed', 'completed'], null],
    ['failed without effect', failed('none'), 'no', true, ['failed_without_effect'], null],
    ['rejected for good', failed('none', false), 'no', false, ['retry_not_allowed', 'rejected_for_good'], null],
    ['failed half way', failed('partial'), 'partly', false, ['retry_not_allowed', 'failed_with_partial_effect'], null],
    ['failed after all', failed('full'), 'yes', false, ['retry_not_allowed', 'failed_with_full_effect'], null],
    ['handed off', callIn('handoff_open'), 'unknown', false, ['retry_not_allowed', 'handoff_unresolved'], 'operator'],
    ['found to have happened', found('happened'), 'yes', false, ['retry_not_allowed', 'found_happened'], null],
    ['found to have happened in part', found('partial'), 'partly', false, ['retry_not_allowed', 'found_partial'], null],
    ['found unknowable', found('unknowable', []), 'unknown', false, ['retry_not_allowed', 'found_unknowable'], null],
    ['found not to have happened', found('not_happened'), 'no', true, ['found_not_happened'], null],
    [
      'said not to have happened without evidence',
      found('not_happened', []),
      'unknown',
      false,
      ['retry_not_allowed', 'found_not_happened'],
      null,
    ],
    ['denied', callIn('denied'), 'no', false, ['retry_not_allowed', 'denied'], null],
    ['not executed', callIn('not_executed'), 'no', true, ['not_executed'], null],
  ])('%s', (_, state, happened, retryAllowed, retryReasons, waitingFor) => {
    expect(dispositionOf(state)).toMatchObject({
      happened,
      mayHaveHappened: happened !== 'no',
      retryAllowed,
      retryReasons,
      waitingFor,
    });
  });

  it('allows a retry exactly where the machine accepts one', () => {
    for (const { state } of EVERY_STATE) {
      const decided = decideToolCall(state, {
        kind: 'accept_retry',
        retry: { attempt: state.attempt + 1, previousStatus: state.status },
      });
      expect(dispositionOf(state).retryAllowed).toBe(decided.ok);
      expect(dispositionOf(state).retryReasons[0]).toBe(
        decided.ok ? dispositionOf(state).retryReasons.at(-1) : decided.code,
      );
    }
  });

  it('never allows a retry of what may have happened', () => {
    const risky = EVERY_STATE.filter(({ state }) => dispositionOf(state).mayHaveHappened);
    expect(risky.filter(({ state }) => dispositionOf(state).retryAllowed)).toEqual([]);
    expect(risky.length).toBeGreaterThan(0);
  });

  it('calls a call that was sent certain not to have happened only after something proved it', () => {
    const sent = Object.values(HISTORIES)
      .flat()
      .filter((history) => history.some(({ type }) => type === 'tool.call.dispatching'));
    const certain = sent
      .map((history) => foldToolCall(null, history))
      .filter((state) => state !== null && !dispositionOf(state).mayHaveHappened);
    expect(new Set(certain.map((state) => state?.status))).toEqual(new Set(['failed', 'manual_handoff']));
  });

  it('waits for somebody exactly while the call has not ended, a handoff without a finding being the exception', () => {
    for (const { situation, state } of EVERY_STATE) {
      const waits = !isTerminal(state.status) || situation === 'handoff_open';
      expect([situation, dispositionOf(state).waitingFor !== null]).toEqual([situation, waits]);
    }
  });
});

describe('the guidance for the model', () => {
  it('for an unknown result says that nobody knows, not to call again, and where to look', () => {
    for (const situation of ['result_unknown', 'reconciling'] as const) {
      expect(dispositionOf(callIn(situation)).guidance).toBe(
        'It is not known whether it ran; do not call again; look at the state of this call.',
      );
    }
    expect(dispositionOf(callIn('handoff_open')).guidance).toMatch(
      /^It is not known whether it ran .*do not call again/,
    );
  });

  it('is one sentence for every state', () => {
    for (const { state } of EVERY_STATE) expect(dispositionOf(state).guidance).toMatch(/^[A-Z][^.]+\.$/);
  });

  it('calls a retry safe exactly where it is allowed, and otherwise says not to call again', () => {
    for (const { state } of EVERY_STATE) {
      const { guidance, retryAllowed } = dispositionOf(state);
      expect([state.status, /safe/.test(guidance)]).toEqual([state.status, retryAllowed]);
      expect([state.status, /do not (call again|repeat it|propose it again)/.test(guidance)]).toEqual([
        state.status,
        !retryAllowed,
      ]);
    }
  });

  it('never says that something ran or did not run while nobody knows', () => {
    const unknown = EVERY_STATE.filter(({ state }) => dispositionOf(state).happened === 'unknown');
    for (const { state } of unknown) {
      expect(dispositionOf(state).guidance).not.toMatch(
        /has not run|has run|had no effect|did not happen|found that it happened/,
      );
    }
  });

  it('for a call that never ran says why, and that it did not run', () => {
    const guidances = NOT_EXECUTED_REASONS.map((reason) => {
      const state: ToolCallState = { ...callIn('not_executed'), status: 'not_executed', reason };
      return dispositionOf(state).guidance;
    });
    expect(new Set(guidances).size).toBe(NOT_EXECUTED_REASONS.length);
    for (const guidance of guidances) expect(guidance).toMatch(/^It has not run because [^.]*safe[^.]*\.$/);
  });

  it('never makes an expiry look like a refusal by a person', () => {
    const state: ToolCallState = { ...callIn('not_executed'), status: 'not_executed', reason: 'approval_expired' };
    expect(dispositionOf(state).guidance).toContain('nobody refused it');
  });

  it('tells a refusal by people from one by policy', () => {
    const byPeople: ToolCallState = { ...callIn('denied'), status: 'denied', deniedBy: 'approval' };
    expect(dispositionOf(byPeople).guidance).toContain('people refused it');
    expect(dispositionOf(callIn('denied')).guidance).toContain('policy does not allow it');
    const byTheWorld: ToolCallState = { ...callIn('denied'), status: 'denied', deniedBy: 'precondition' };
    expect(dispositionOf(byTheWorld).guidance).toContain('rests on is not so');
  });
});
