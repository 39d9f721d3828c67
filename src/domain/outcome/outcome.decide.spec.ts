import { describe, expect, it } from '@jest/globals';
import {
  BOTH,
  RIGHTS,
  clock,
  evidence,
  feedbackWith,
  opening,
  outcomeIn,
  take,
} from '../../../test/builders/outcome-examples.js';
import type { OutcomeCommand } from './outcome.commands.js';
import { decideOutcome } from './outcome.decide.js';
import { foldOutcome } from './outcome.evolve.js';
import type { OutcomeState } from './outcome.state.js';

const outcome = (state: OutcomeState | null, command: OutcomeCommand) => {
  const decided = decideOutcome(state, command);
  if (!decided.ok) return { refused: decided.code, types: [], state, events: [] };
  return {
    refused: null,
    types: decided.events.map(({ type }) => type),
    state: foldOutcome(state, decided.events),
    events: decided.events,
  };
};

describe('a verification', () => {
  it('has its time from the moment it is opened', () => {
    const { state } = outcome(null, { kind: 'open', opening: opening(), now: clock('10:00:00') });
    expect(state).toMatchObject({ status: 'pending', deadline: clock('11:00:00'), attempt: 1, seen: [] });
  });

  it('is opened once for an attempt', () => {
    expect(outcome(outcomeIn('pending'), { kind: 'open', opening: opening(), now: clock('10:50:00') }).types).toEqual(
      [],
    );
  });

  it('starts anew with a later attempt, whatever an earlier one showed', () => {
    const { state } = outcome(outcomeIn('confirmed_failure'), {
      kind: 'open',
      opening: opening(2),
      now: clock('10:50:00'),
    });
    expect(state).toMatchObject({ status: 'pending', attempt: 2, deadline: clock('11:50:00') });
  });

  it('is inconclusive when its time is over, which proves neither success nor failure', () => {
    const { state, types } = outcome(outcomeIn('pending'), { kind: 'expire', now: clock('11:00:00') });
    expect(types).toEqual(['feedback.inconclusive']);
    expect(state).toMatchObject({ status: 'inconclusive', reason: 'deadline_passed' });
  });
});

describe('feedback that the criteria are met', () => {
  it('confirms when every needed kind of evidence is there', () => {
    const { types, state } = outcome(outcomeIn('pending'), take());
    expect(types).toEqual(['feedback.received', 'feedback.success_criteria_met']);
    expect(state?.status).toBe('confirmed_success');
  });

  it('waits for what is missing, and names every feedback that it rests on in the end', () => {
    const half = outcome(outcomeIn('pending'), take({ evidence: [evidence('provider_status')] }));
    expect(half.types).toEqual(['feedback.received']);
    expect(half.state?.status).toBe('pending');
    const whole = outcome(half.state, take({ feedbackId: 'fb-2', evidence: [evidence('statement_line')] }));
    expect(whole.state?.status).toBe('confirmed_success');
    expect(whole.events[1]?.payload).toMatchObject({ feedbackIds: ['fb-1', 'fb-2'], source: 'psp' });
  });

  it('says where the evidence is, who gave it and when it was looked at', () => {
    const [, met] = outcome(outcomeIn('pending'), take()).events;
    expect(met?.payload).toMatchObject({
      criteriaId: 'refund_settled',
      source: 'psp',
      verifiedAt: clock('10:30:00'),
      evidenceRefs: BOTH,
    });
  });

  it('takes an inconclusive verification up again, with new time where it is not enough', () => {
    const part = outcome(
      outcomeIn('inconclusive'),
      take({ evidence: [evidence('provider_status')] }, RIGHTS, clock('15:00:00')),
    );
    expect(part.state).toMatchObject({ status: 'pending', deadline: clock('16:00:00') });
    expect(outcome(outcomeIn('inconclusive'), take()).state?.status).toBe('confirmed_success');
  });
});

describe('feedback that the criteria are not met', () => {
  it('confirms the failure with one piece of needed evidence', () => {
    const { types, state } = outcome(
      outcomeIn('pending'),
      take({ verdict: 'failed', evidence: [evidence('statement_line')] }),
    );
    expect(types).toEqual(['feedback.received', 'feedback.success_criteria_failed']);
    expect(state).toMatchObject({ status: 'confirmed_failure', basis: 'source' });
  });

  it('decides nothing by evidence that nobody asked for', () => {
    const heard = outcome(outcomeIn('pending'), take({ verdict: 'failed', evidence: [evidence('hearsay')] }));
    expect(heard.types).toEqual(['feedback.received']);
    expect(heard.state?.status).toBe('pending');
  });

  it('puts a confirmed success in doubt instead of overwriting it', () => {
    const { types, state, events } = outcome(
      outcomeIn('confirmed_success'),
      take({ verdict: 'failed' }, RIGHTS, clock('12:00:00')),
    );
    expect(types).toEqual(['feedback.received', 'feedback.contradiction_recorded']);
    expect(events[1]?.payload).toMatchObject({ earlierStatus: 'confirmed_success', source: 'psp' });
    expect(state).toMatchObject({ status: 'pending', deadline: clock('13:00:00'), seen: [] });
  });

  it('contradicts nothing without authority', () => {
    const heard = outcome(
      outcomeIn('confirmed_success'),
      take({ verdict: 'failed' }, { ...RIGHTS, authoritative: false }),
    );
    expect(heard.refused).toBe('feedback_source_missing');
  });
});

describe('an operator who has looked', () => {
  const found = (verdict: 'met' | 'failed' | 'inconclusive'): OutcomeCommand => ({
    kind: 'take_finding',
    feedback: feedbackWith({
      source: 'olga',
      verdict,
      evidence: [{ kind: 'operator_finding', ref: 'T-1', digest: null }],
    }),
    now: clock('10:40:00'),
  });

  it.each([
    ['met', 'confirmed_success'],
    ['failed', 'confirmed_failure'],
    ['inconclusive', 'inconclusive'],
  ] as const)('who found %s makes a pending outcome %s', (verdict, status) => {
    expect(outcome(outcomeIn('pending'), found(verdict)).state?.status).toBe(status);
  });

  it('contradicts a confirmed outcome, which is open again then', () => {
    expect(outcome(outcomeIn('confirmed_success'), found('failed')).state?.status).toBe('pending');
  });
});

describe('a call that is proven to have had no effect', () => {
  const noEffect: OutcomeCommand = { kind: 'note_no_effect', now: clock('10:20:00') };

  it.each(['pending', 'inconclusive'] as const)('has failed its criteria while the outcome is %s', (status) => {
    const { state, types } = outcome(outcomeIn(status), noEffect);
    expect(types).toEqual(['feedback.success_criteria_failed']);
    expect(state).toMatchObject({ status: 'confirmed_failure', basis: 'not_executed' });
  });

  it('contradicts a success that somebody confirmed', () => {
    expect(outcome(outcomeIn('confirmed_success'), noEffect).types).toEqual(['feedback.contradiction_recorded']);
  });
});
