import { describe, expect, it } from '@jest/globals';
import { callIn, callsIn, completion, failure } from '../../../test/builders/tool-call-examples.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { decideToolCall } from '../../domain/tool-call/tool-call.decide.js';
import { SITUATIONS, type Situation } from '../../domain/tool-call/tool-call.transitions.js';
import { lateCommand } from './late-result.js';

const TIMES = { acceptedAt: '2031-01-01T10:00:02.000Z', sentAt: '2031-01-01T10:00:01.000Z' };
const COMPLETE: ToolCallCommand = { kind: 'complete', completion: completion('direct'), ...TIMES };
const FAIL: ToolCallCommand = { kind: 'fail', failure: failure(), ...TIMES };
const UNKNOWN: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: TIMES.sentAt };
const ACCEPT: ToolCallCommand = {
  kind: 'record_acceptance',
  acceptance: { acceptedAt: TIMES.acceptedAt, basis: 'ack', externalRequestId: 'job-1' },
  sentAt: TIMES.sentAt,
};

describe('the end of an attempt that is recorded late', () => {
  it.each(['dispatching', 'dispatched', 'accepted'] as const)('is what it says while the call is %s', (status) => {
    expect(lateCommand(callIn(status), COMPLETE)).toBe(COMPLETE);
    expect(lateCommand(callIn(status), UNKNOWN)).toBe(UNKNOWN);
  });

  it.each(['result_unknown', 'reconciling'] as const)('is evidence that settles a call that is %s', (status) => {
    expect(lateCommand(callIn(status), COMPLETE)).toMatchObject({
      kind: 'resolve_happened',
      resolution: { verdict: 'happened', evidenceRefs: [expect.any(String)] },
      completion: { basis: 'callback', result: { refundId: 'r-1' } },
    });
    expect(lateCommand(callIn(status), FAIL)).toMatchObject({
      kind: 'resolve_failed',
      resolution: { verdict: 'not_happened' },
      failure: { basis: 'callback', effect: 'none' },
    });
  });

  it.each(['result_unknown', 'reconciling'] as const)('proves nothing where it proves nothing, about %s', (status) => {
    expect(lateCommand(callIn(status), UNKNOWN)).toBeNull();
  });

  it.each(['result_unknown', 'reconciling', 'handoff_open'] as const)(
    'brings the reference of a tool that has accepted it, although the call is %s by now',
    (situation) => {
      expect(lateCommand(callIn(situation), ACCEPT)).toMatchObject({
        kind: 'record_callback',
        callback: { source: 'attempt', meaning: 'pending', externalRequestId: 'job-1' },
      });
    },
  );

  it('is evidence for the people who are finding out', () => {
    expect(lateCommand(callIn('handoff_open'), COMPLETE)).toMatchObject({
      kind: 'record_callback',
      callback: { meaning: 'happened', externalRequestId: 'r-1', evidence: { effect: { refundId: 'r-1' } } },
    });
    expect(lateCommand(callIn('handoff_open'), FAIL)).toMatchObject({ callback: { meaning: 'failed' } });
  });

  it('says failed, not absent, where some of the effect is there', () => {
    const partial: ToolCallCommand = { kind: 'fail', failure: failure({ effect: 'partial' }), ...TIMES };
    expect(lateCommand(callIn('result_unknown'), partial)).toMatchObject({ resolution: { verdict: 'failed' } });
  });

  it.each([
    ['completed', FAIL],
    ['failed_retryable', COMPLETE],
    ['handoff_not_happened', COMPLETE],
    ['denied', COMPLETE],
    ['not_executed', COMPLETE],
  ] as const)('contradicts a call that ended otherwise: %s', (situation, command) => {
    expect(lateCommand(callIn(situation), command)).toMatchObject({ kind: 'record_contradiction' });
  });

  it.each([
    ['completed', COMPLETE],
    ['failed_retryable', FAIL],
    ['completed', UNKNOWN],
    ['completed', ACCEPT],
    ['not_executed', FAIL],
  ] as const)('adds nothing to a call that is %s already', (situation, command) => {
    expect(lateCommand(callIn(situation), command)).toBeNull();
  });

  it('never moves a call out of an end, and is never refused once the attempt has left', () => {
    const sent: readonly Situation[] = SITUATIONS.filter(
      (situation) =>
        !['none', 'proposed', 'authorized', 'denied', 'not_executed', 'not_executed_contested'].includes(situation),
    );
    const refused = sent.flatMap((situation) =>
      callsIn(situation).flatMap((state) =>
        [COMPLETE, FAIL, UNKNOWN]
          .map((command) => (state === null ? null : lateCommand(state, command)))
          .filter((fitting) => fitting !== null && !decideToolCall(state, fitting).ok)
          .map((fitting) => `${situation}: ${fitting?.kind}`),
      ),
    );
    expect(refused).toEqual([]);
  });
});
