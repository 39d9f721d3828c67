import { describe, expect, it } from '@jest/globals';
import { WaitingCalls, type WaitingCall } from './waiting-calls.js';

const call = (toolCallId: string, capability = 'refund.create'): WaitingCall => ({
  tenant: 'acme',
  toolCallId,
  capability,
});

describe('calls that wait for a slot', () => {
  it('stand in line per capability in the order in which they came', () => {
    const waiting = new WaitingCalls();
    for (const next of [call('call_2'), call('call_1'), call('call_3', 'payout.create')]) waiting.add(next);
    expect(waiting.first('refund.create')?.toolCallId).toBe('call_2');
    waiting.remove(call('call_2'));
    expect(waiting.first('refund.create')?.toolCallId).toBe('call_1');
    expect(waiting.first('payout.create')?.toolCallId).toBe('call_3');
    expect(waiting.capabilities()).toEqual(['refund.create', 'payout.create']);
  });

  it('keep their place when they are put in line again', () => {
    const waiting = new WaitingCalls();
    for (const next of [call('call_1'), call('call_2'), call('call_1')]) waiting.add(next);
    waiting.remove(call('call_1'));
    expect(waiting.first('refund.create')?.toolCallId).toBe('call_2');
    waiting.remove(call('call_2'));
    expect(waiting.first('refund.create')).toBeNull();
  });

  it('leave no line behind', () => {
    const waiting = new WaitingCalls();
    waiting.add(call('call_1'));
    waiting.remove(call('call_1'));
    waiting.remove(call('call_1'));
    expect(waiting.capabilities()).toEqual([]);
    expect(waiting.first('refund.create')).toBeNull();
  });
});
