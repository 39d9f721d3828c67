import { describe, expect, it } from '@jest/globals';
import { Installation } from '../../../test/builders/installation.js';
import { COUNTERSIGN, INSTALLATION } from './unit-desk.js';

const ROW = {
  tenant: 'acme',
  run_id: 'run_1',
  session_id: 'ses_1',
  correlation_id: 'intent-1',
  last_event_id: 'evt_9',
};

describe('the desk where units are written', () => {
  it('begins a unit about a call with its newest event as the cause', () => {
    const { desk, clock } = new Installation();
    expect(desk.beginAbout(ROW, { lane: 'settle', causeKind: 'event' }).context).toEqual({
      tenant: 'acme',
      lane: 'settle',
      actor: COUNTERSIGN,
      correlationId: 'intent-1',
      runId: 'run_1',
      sessionId: 'ses_1',
      occurredAt: clock.iso,
      causationId: 'evt_9',
      causeKind: 'event',
    });
  });

  it('begins a unit about a run with time alone as the cause', () => {
    const { desk } = new Installation();
    const row = { tenant: 'acme', run_id: 'run_1', session_id: 'ses_1' };
    expect(desk.beginAbout(row, { lane: 'govern', causeKind: 'timer' }).context).toMatchObject({
      correlationId: 'run_1',
      causationId: null,
      causeKind: 'timer',
    });
  });

  it('says where recovery speaks for somebody else, and when the thing happened', () => {
    const { desk } = new Installation();
    const occurredAt = '2031-01-01T09:00:00.000Z';
    const how = { lane: 'settle', causeKind: 'event', occurredAt, synthetic: true } as const;
    expect(desk.beginAbout(ROW, how).context).toMatchObject({ occurredAt, synthetic: true });
  });

  it('begins a unit of the installation in no tenant', () => {
    const { desk } = new Installation();
    expect(desk.beginInstallation('policies').context).toMatchObject({
      tenant: INSTALLATION,
      causationId: null,
      causeKind: 'external',
    });
    expect(desk.beginInstallation('refund.create', 'evt_1').context).toMatchObject({
      causationId: 'evt_1',
      causeKind: 'event',
    });
  });

  it('knows the time, this process and new ids', () => {
    const { desk } = new Installation();
    expect(desk.now()).toBe('2031-01-01T10:00:00.000Z');
    expect(desk.instance).toEqual({ instanceId: 'ins_1', epoch: 2 });
    expect(desk.newId('call') < desk.newId('call')).toBe(true);
  });
});
