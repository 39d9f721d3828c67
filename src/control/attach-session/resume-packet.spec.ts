import { describe, expect, it } from '@jest/globals';
import { callIn, callsIn } from '../../../test/builders/tool-call-examples.js';
import { RUN_STATUSES, type RunStatus } from '../../domain/run/run.state.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import { recoveryOf, type KnownCall, type Standing } from './resume-packet.js';

type Situation = Parameters<typeof callIn>[0];

const known = (state: ToolCallState): KnownCall => ({ toolCallId: 'tc', callId: 'c-1', turnId: 'turn-1', state });
const standing = (more: Partial<Standing> = {}): Standing => ({
  run: 'running',
  canResume: true,
  waitingCalls: [],
  ...more,
});

/** One answer of the four at most, and what is safe to do next about it. */
const ANSWERS: readonly [Situation, 'happened' | 'inProgress' | 'uncertain' | 'none', readonly string[]][] = [
  ['proposed', 'inProgress', ['wait_for_approval']],
  ['authorized', 'inProgress', ['wait_for_execution']],
  ['dispatching', 'uncertain', ['wait_for_execution', 'ask_about_unknown_results']],
  ['dispatched', 'uncertain', ['wait_for_result', 'ask_about_unknown_results']],
  ['accepted', 'inProgress', ['wait_for_result']],
  ['result_unknown', 'uncertain', ['ask_about_unknown_results']],
  ['reconciling', 'uncertain', ['ask_about_unknown_results']],
  ['completed', 'happened', ['new_model_call']],
  ['failed_retryable', 'none', ['new_model_call']],
  ['failed_for_good', 'happened', ['new_model_call']],
  ['handoff_open', 'uncertain', ['ask_about_unknown_results', 'new_model_call']],
  ['handoff_not_happened', 'none', ['new_model_call']],
  ['handoff_other_finding', 'happened', ['new_model_call']],
  ['denied', 'none', ['new_model_call']],
  ['not_executed', 'none', ['new_model_call']],
  ['not_executed_contested', 'uncertain', ['ask_about_unknown_results', 'new_model_call']],
];

describe('the four answers of a recovery [K-103]', () => {
  it.each(ANSWERS)('of a call that is %s: %s', (situation, answer, next) => {
    const recovery = recoveryOf(standing(), [known(callIn(situation))]);
    const given = (['happened', 'inProgress', 'uncertain'] as const).filter((name) => recovery[name].length > 0);
    expect(given).toEqual(answer === 'none' ? [] : [answer]);
    expect(recovery.nextSafe).toEqual(next);
  });

  it('believe of what people have looked into what they found', () => {
    const answers = callsIn('handoff_other_finding').flatMap((state) => {
      if (state === null) return [];
      const { happened, uncertain } = recoveryOf(standing(), [known(state)]);
      return [[happened.length, uncertain.length]];
    });
    // happened, partial, unknowable, not happened without evidence
    expect(answers).toEqual([
      [1, 0],
      [1, 0],
      [0, 1],
      [0, 1],
    ]);
  });

  it('do not believe a result that other evidence contradicts', () => {
    const state = { ...callIn('completed'), contradicted: true } as ToolCallState;
    expect(recoveryOf(standing(), [known(state)])).toMatchObject({ happened: [], uncertain: ['tc'] });
  });

  it('say of each call what may be done about it, without its arguments', () => {
    const [call] = recoveryOf(standing(), [known(callIn('accepted'))]).toolCalls;
    expect(call).toMatchObject({ toolCallId: 'tc', callId: 'c-1', status: 'accepted', recovery: 'ask' });
    expect(Object.keys(call ?? {})).not.toContain('arguments');
  });
});

describe('what a harness may do next', () => {
  const NEXT: Readonly<Record<RunStatus, readonly string[]>> = {
    running: ['new_model_call'],
    suspending: [],
    suspended: ['resume_run', 'new_model_call'],
    interrupted: ['resume_run', 'new_model_call'],
    stopping: [],
    completed: ['start_run'],
    failed: ['start_run'],
    stopped: ['start_run'],
    handed_off: ['start_run'],
    ended_unrecorded: ['start_run'],
  };

  it.each(RUN_STATUSES)('in a run that is %s', (run) => {
    expect(recoveryOf(standing({ run }), []).nextSafe).toEqual(NEXT[run]);
  });

  it('is to begin a run where there is none, and only to read where the session cannot go on', () => {
    expect(recoveryOf(standing({ run: null }), []).nextSafe).toEqual(['start_run']);
    expect(recoveryOf(standing({ canResume: false }), [known(callIn('proposed'))]).nextSafe).toEqual(['read_only']);
  });

  it('is to propose what the model asked for and nobody proposed, before a model is asked again', () => {
    const waitingCalls = ['c-1', 'c-2'];
    const recovery = recoveryOf(standing({ waitingCalls }), [known(callIn('completed'))]);
    expect(recovery.nextSafe).toEqual(['propose_waiting_calls']);
    expect(recoveryOf(standing({ waitingCalls: ['c-1'] }), [known(callIn('accepted'))]).nextSafe).toEqual([
      'wait_for_result',
    ]);
    expect(recoveryOf(standing({ waitingCalls, run: 'stopping' }), []).nextSafe).toEqual([]);
  });
});
