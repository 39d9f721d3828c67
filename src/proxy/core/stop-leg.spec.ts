import { describe, expect, it } from '@jest/globals';
import { callIn } from '../../../test/builders/tool-call-examples.js';
import { SITUATIONS, type Situation } from '../../domain/tool-call/tool-call.transitions.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import { legOf } from './stop-leg.js';

const state = (situation: Exclude<Situation, 'none'>, more: Partial<ToolCallState> = {}): ToolCallState =>
  ({ ...callIn(situation), ...more }) as ToolCallState;
const brief = (of: ToolCallState, observed = false): readonly unknown[] => {
  const { leg, settled, next } = legOf(of, observed);
  return [leg, settled, next];
};

describe('the leg of a call in a stop', () => {
  it('is what its state says, for every state', () => {
    const legs = SITUATIONS.filter((situation) => situation !== 'none').map((name) => [name, brief(state(name))]);
    expect(Object.fromEntries(legs)).toEqual({
      proposed: ['open', false, 'close'],
      authorized: ['open', false, 'close'],
      dispatching: ['open', false, 'stop_at_tool'],
      dispatched: ['open', false, 'stop_at_tool'],
      accepted: ['open', false, 'stop_at_tool'],
      result_unknown: ['handed_over', true, null],
      reconciling: ['handed_over', true, null],
      completed: ['finished', true, null],
      failed_retryable: ['finished', true, null],
      failed_for_good: ['finished', true, null],
      handoff_open: ['handed_over', true, null],
      handoff_not_happened: ['handed_over', true, null],
      handoff_other_finding: ['handed_over', true, null],
      denied: ['not_started', true, null],
      not_executed: ['not_started', true, null],
      not_executed_contested: ['handed_over', true, null],
    });
  });

  it.each(['dispatching', 'dispatched', 'accepted'] as const)(
    'of a call that is %s waits for what was asked',
    (name) => {
      const asked = state(name, { cancellationRequested: true, cancelBy: '2031-01-01T10:00:20.000Z' });
      expect(brief(asked, true)).toEqual(['cancel_requested', false, null]);
    },
  );

  it('of what cannot be stopped is left to whoever waits for its result, and waited for where nobody does', () => {
    const irreversible = { irreversible: 'not_supported' };
    expect(brief(state('accepted', irreversible), true)).toEqual(['irreversible', true, null]);
    expect(brief(state('accepted', irreversible), false)).toEqual(['irreversible', false, null]);
    expect(brief(state('dispatched', irreversible), true)).toEqual(['irreversible', false, null]);
  });

  it('of a confirmed cancellation says so', () => {
    expect(brief(state('failed_for_good', { code: 'cancelled' } as Partial<ToolCallState>))).toEqual([
      'cancelled',
      true,
      null,
    ]);
  });

  it('of a read has nothing to stop and nothing to undo', () => {
    expect(brief(state('dispatched', { effect: 'read_only' }))).toEqual(['open', false, null]);
  });
});
