import { beforeEach, describe, expect, it } from '@jest/globals';
import { refundCapability } from '../../test/builders/installation.js';
import { ManualClock } from '../../test/builders/manual-clock.js';
import { DispatchHandover } from './dispatch-handover.js';
import { ExecutionSlots } from './execution-slots.js';

const CAPABILITY = refundCapability();
const clock = new ManualClock('2031-01-01T10:00:00.000Z');
let slots: ExecutionSlots;
let handover: DispatchHandover;

beforeEach(() => {
  slots = new ExecutionSlots(clock, 2, () => ({ concurrency: 10, ratePerSecond: null }));
  handover = new DispatchHandover(slots);
});

describe('the slots of calls on their way to the disk', () => {
  it('are reserved until none is free', () => {
    expect(handover.reserve('call_1', CAPABILITY)).toBe(true);
    expect(handover.reserve('call_2', CAPABILITY)).toBe(true);
    expect(handover.reserve('call_3', CAPABILITY)).toBe(false);
    expect(handover.size).toBe(2);
  });

  it('are free again once given back, and only once', () => {
    handover.reserve('call_1', CAPABILITY);
    handover.reserve('call_2', CAPABILITY);
    handover.giveBack('call_1');
    handover.giveBack('call_1');
    handover.giveBack('call_9');
    expect(slots.counts().inFlight).toBe(1);
    expect(handover.reserve('call_3', CAPABILITY)).toBe(true);
    expect(handover.reserve('call_4', CAPABILITY)).toBe(false);
  });

  it('are never two for one call, so that none is lost', () => {
    handover.reserve('call_1', CAPABILITY);
    handover.reserve('call_1', CAPABILITY);
    handover.giveBack('call_1');
    handover.giveBack('call_1');
    expect(slots.counts().inFlight).toBe(0);
  });

  it('count against the rate when they were used, and not when nothing was dispatched', () => {
    slots = new ExecutionSlots(clock, 10, () => ({ concurrency: 10, ratePerSecond: 1 }));
    handover = new DispatchHandover(slots);
    expect(handover.reserve('call_1', CAPABILITY)).toBe(true);
    handover.cancel('call_1');
    expect(handover.reserve('call_2', CAPABILITY)).toBe(true);
    handover.giveBack('call_2');
    expect(handover.reserve('call_3', CAPABILITY)).toBe(false);
    expect(handover.waitMs(CAPABILITY)).toBe(1000);
  });

  it('are for nobody once the process is stopping, while what is reserved goes on', () => {
    handover.reserve('call_1', CAPABILITY);
    handover.close();
    expect(handover.reserve('call_2', CAPABILITY)).toBe(false);
    expect(handover.waitMs(CAPABILITY)).toBeNull();
    expect(handover.size).toBe(1);
    handover.giveBack('call_1');
    expect(handover.size).toBe(0);
  });
});
