import { describe, expect, it } from '@jest/globals';
import { callIn, callsIn } from '../../../test/builders/tool-call-examples.js';
import { contradicts } from '../../domain/tool-call/tool-call.contradict.js';
import { decideToolCall } from '../../domain/tool-call/tool-call.decide.js';
import { SITUATIONS, type Situation } from '../../domain/tool-call/tool-call.transitions.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import { MEANINGS, type Meaning } from './callback-reading.js';
import { stepFor, type Evidence, type Step } from './late-evidence.js';

const CIRCUMSTANCES = { now: '2031-01-01T10:01:00.000Z', digest: () => 'sha256:effect' };

const told = (meaning: Meaning, id = 'cb-1'): Evidence => ({
  callbackId: id,
  eventId: `evt-${id}`,
  meaning,
  effect: { paid: 5 },
  reference: 'r-9',
});

const step = (state: ToolCallState, evidence: Evidence, ...beside: Evidence[]): Step =>
  stepFor(state, evidence, beside, CIRCUMSTANCES);

/** The word for a step, as in the table below. */
function wordOf(found: Step): string {
  if (found.step !== 'record') return found.step;
  return found.command === null ? found.outcome : `${found.outcome} ${found.command.kind}`;
}

const EVIDENCE_ONLY = 'applied';
const IGNORED = 'ignored ignore_callback';
const CONTRADICTING = 'contradicting record_contradiction';

/** (situation, meaning) → step; `happened failed pending unclear`. */
const TABLE: Readonly<Record<Exclude<Situation, 'none'>, readonly [string, string, string, string]>> = {
  proposed: [IGNORED, IGNORED, IGNORED, IGNORED],
  authorized: [IGNORED, IGNORED, IGNORED, IGNORED],
  dispatching: ['wait', 'wait', 'wait', 'wait'],
  dispatched: ['wait', 'wait', 'wait', 'wait'],
  accepted: ['applied complete', 'applied fail', IGNORED, IGNORED],
  result_unknown: ['applied resolve_happened', 'applied resolve_failed', IGNORED, IGNORED],
  reconciling: ['applied resolve_happened', 'applied resolve_failed', IGNORED, IGNORED],
  completed: [IGNORED, CONTRADICTING, IGNORED, IGNORED],
  failed_retryable: [CONTRADICTING, IGNORED, IGNORED, IGNORED],
  failed_for_good: [CONTRADICTING, IGNORED, IGNORED, IGNORED],
  handoff_open: [EVIDENCE_ONLY, EVIDENCE_ONLY, IGNORED, IGNORED],
  handoff_not_happened: [CONTRADICTING, IGNORED, IGNORED, IGNORED],
  handoff_other_finding: [IGNORED, CONTRADICTING, IGNORED, IGNORED],
  denied: [CONTRADICTING, IGNORED, IGNORED, IGNORED],
  not_executed: [CONTRADICTING, IGNORED, IGNORED, IGNORED],
  not_executed_contested: [CONTRADICTING, IGNORED, IGNORED, IGNORED],
};

describe('evidence from outside', () => {
  it.each(Object.entries(TABLE))('about a call that is %s leads to one step for each meaning', (situation, words) => {
    const state = callIn(situation as Exclude<Situation, 'none'>);
    expect(MEANINGS.map((meaning) => wordOf(step(state, told(meaning))))).toEqual(words);
  });

  it('never asks for a transition that the machine refuses', () => {
    const refused = SITUATIONS.flatMap((situation) =>
      callsIn(situation).flatMap((state) =>
        MEANINGS.flatMap((meaning) => {
          const found = state === null ? null : step(state, told(meaning));
          if (found?.step !== 'record' || found.command === null) return [];
          return decideToolCall(state, found.command).ok ? [] : [`${situation}: ${meaning}`];
        }),
      ),
    );
    expect(refused).toEqual([]);
  });

  it('settles with the event that holds it as evidence, and the effect as the result', () => {
    expect(step(callIn('reconciling'), told('happened'))).toMatchObject({
      command: {
        resolution: { verdict: 'happened', evidenceRefs: ['evt-cb-1'] },
        completion: { basis: 'callback', result: { paid: 5 }, resultDigest: 'sha256:effect', externalRequestId: 'r-9' },
      },
    });
    expect(step(callIn('accepted'), told('failed'))).toMatchObject({
      command: { failure: { code: 'failed_at_tool', effect: 'none', basis: 'callback', retryable: false } },
    });
  });

  it.each(['accepted', 'result_unknown', 'reconciling'] as const)(
    'that contradicts itself about a call that is %s settles nothing: people get all of it',
    (status) => {
      const found = step(callIn(status), told('happened'), told('failed', 'cb-2'), told('pending', 'cb-3'));
      expect(found).toEqual({ step: 'hand_off', evidenceRefs: ['evt-cb-1', 'evt-cb-2'] });
      expect(step(callIn(status), told('happened'), told('happened', 'cb-2')).step).toBe('record');
    },
  );

  it.each(['proposed', 'authorized'] as const)(
    'of an earlier attempt keeps a call that is %s again from being sent',
    (status) => {
      const again = { ...callIn(status), attempt: 2 };
      expect(step(again, told('happened'))).toMatchObject({ step: 'withhold' });
      expect(wordOf(step(again, told('failed')))).toBe(IGNORED);
    },
  );

  it('says nothing against a failure that is known to have had its whole effect, nor against a finding that nobody can know', () => {
    const full: ToolCallState = {
      ...callIn('failed_for_good'),
      status: 'failed',
      code: 'x',
      knownEffect: 'full',
      retryable: false,
    };
    expect(contradicts(full, 'happened')).toBe(false);
    const [, partial, unknowable] = callsIn('handoff_other_finding') as ToolCallState[];
    expect([partial, unknowable].map((state) => state !== undefined && contradicts(state, 'happened'))).toEqual([
      true,
      false,
    ]);
  });
});
