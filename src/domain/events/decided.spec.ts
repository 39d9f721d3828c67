import { describe, expect, it } from '@jest/globals';
import { decided, mustHold } from './decided.js';
import { stay, to } from './edges.js';

describe('the answer of a rule', () => {
  it('keeps the events in the order they were given, and may hold none', () => {
    const first = { type: 'tool.call.callback_ignored', payload: { callbackId: 'a', reason: 'late' } } as const;
    const second = { type: 'tool.call.not_executed', payload: { reason: 'stopped' } } as const;
    expect(decided(first, second)).toEqual({ ok: true, events: [first, second] });
    expect(decided()).toEqual({ ok: true, events: [] });
  });

  it('is a thrown error where our own code is wrong', () => {
    expect(() => mustHold(true, 'all is well')).not.toThrow();
    expect(() => mustHold(false, 'two is one')).toThrow('broken invariant: two is one');
  });
});

describe('a row of a transition table', () => {
  it('leads from each status to the next, or leaves each as it is', () => {
    expect(to<'open' | 'shut'>('open', 'none', 'shut')).toEqual({ none: 'open', shut: 'open' });
    expect(stay<'open' | 'shut'>('open', 'shut')).toEqual({ open: 'open', shut: 'shut' });
  });
});
