import { describe, expect, it } from '@jest/globals';
import type { CommittedEvent, EventEnvelope } from './envelope.js';
import type { JsonObject } from '../json/json-value.js';
import { eventView } from './event-view.js';

const ENVELOPE: EventEnvelope = {
  eventId: 'evt_1',
  eventType: 'tool.call.proposed',
  schemaVersion: 1,
  tenant: 'acme',
  streamKind: 'call',
  streamId: 'call_1',
  version: 1,
  unitId: 'unt_1',
  unitIndex: 0,
  unitSize: 1,
  runId: 'run_1',
  toolCallId: 'call_1',
  producer: 'capability-runtime',
  actor: { sub: 'sam', act: { sub: 'support-agent' } },
  correlationId: 'call_1',
  causationId: null,
  causeKind: 'external',
  occurredAt: '2031-01-01T00:00:00.000Z',
  recordedAt: '2031-01-01T00:00:00.001Z',
  versionSetId: 'v1',
};

const viewOf = (payload: JsonObject, envelope: Partial<EventEnvelope> = {}): ReturnType<typeof eventView> =>
  eventView({ position: 3, envelope: { ...ENVELOPE, ...envelope }, payload } satisfies CommittedEvent);

describe('an event as readers see it', () => {
  it('masks the arguments of a proposal at the pointers that were recorded with it, and nothing else', () => {
    const args = { card: '4111', to: { iban: 'DE1', name: 'Ada' }, amount: 7 };
    const redacted = ['/card', '/to/iban', '/nowhere'];
    const { payload } = viewOf({ capability: 'demo.pay', arguments: args, redacted });
    expect(payload).toEqual({
      capability: 'demo.pay',
      redacted,
      arguments: {
        card: expect.stringMatching(/^\[redacted:[0-9a-f]{8}\]$/),
        to: { iban: expect.stringMatching(/^\[redacted:[0-9a-f]{8}\]$/), name: 'Ada' },
        amount: 7,
      },
    });
    expect(args.card).toBe('4111');
  });

  it('shows a proposal as it is when nothing of it is redacted', () => {
    const payload = { capability: 'demo.pay', arguments: { amount: 7 } };
    expect(viewOf(payload).payload).toEqual(payload);
  });

  it('names what the event is about, and null for what it is not about', () => {
    expect(viewOf({ arguments: {} })).toMatchObject({ runId: 'run_1', toolCallId: 'call_1', approvalId: null });
    expect(viewOf({ arguments: {} })).not.toHaveProperty('commandId');
    expect(viewOf({}, { eventType: 'control.accepted', commandId: 'cmd_1' }).commandId).toBe('cmd_1');
  });

  it('counts the events of a run stream as events of that run', () => {
    const { runId: _, toolCallId: __, ...bare } = ENVELOPE;
    const event = {
      position: 0,
      payload: {},
      envelope: { ...bare, eventType: 'run.started', streamKind: 'run', streamId: 'run_7' },
    } as const;
    expect(eventView(event)).toMatchObject({ runId: 'run_7', toolCallId: null });
  });

  it('shows nothing that only the store needs', () => {
    const shown = Object.keys(viewOf({ arguments: {} }));
    for (const field of ['tenant', 'unitId', 'versionSetId', 'producer']) expect(shown).not.toContain(field);
  });
});

describe('a decision as readers see it', () => {
  const request = { riskScore: 5, counters: { 'spend.day': 700 } };

  it('does not tell what others have spent', () => {
    const { payload } = viewOf({ outcome: 'deny', request }, { eventType: 'policy.decided' });
    expect(payload).toEqual({ outcome: 'deny', request: { riskScore: 5, counters: '[withheld]' } });
  });

  it('is as it is where nothing was counted', () => {
    const payload = { outcome: 'allow', request: { riskScore: 5 } };
    expect(viewOf(payload, { eventType: 'policy.decided' }).payload).toEqual(payload);
  });
});
