import { describe, expect, it } from '@jest/globals';
import { Installation, refundCapability, TENANT } from '../../../test/builders/installation.js';
import { authorization, completion, decision, failure } from '../../../test/builders/tool-call-examples.js';
import { planDispatch } from '../../capabilities/dispatch-plan.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { domainEventOf } from '../../domain/events/domain-event.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { foldToolCall } from '../../domain/tool-call/tool-call.evolve.js';
import { GuardFailed } from '../../storage/unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';

const TIMES = { acceptedAt: '2031-01-01T10:00:02.000Z', sentAt: '2031-01-01T10:00:01.000Z' };
const COMPLETE: ToolCallCommand = { kind: 'complete', completion: completion('direct'), ...TIMES };
const UNKNOWN: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null };
const START: ToolCallCommand = {
  kind: 'start_reconciliation',
  start: { strategy: 'query_by_idempotency_key', deadline: '2031-01-01T11:00:00.000Z' },
};
const ABSENT: ToolCallCommand = {
  kind: 'resolve_failed',
  resolution: { verdict: 'not_happened', evidenceRefs: ['probe-1'] },
  failure: failure({ basis: 'reconciliation', code: 'absent_at_tool' }),
};

async function onTheWire(): Promise<{ installation: Installation; id: string }> {
  const installation = new Installation({ capabilities: [refundCapability({ timeout: '30s', quiesce: '5s' })] });
  return { installation, id: await installation.propose() };
}

describe('recording what the proxy did', () => {
  it('is a unit in the lane that is never refused, caused by the newest event of the call', async () => {
    const { installation, id } = await onTheWire();
    const before = (await installation.call(id)).row.last_event_id;
    const next = await installation.recorder.record(await installation.call(id), COMPLETE);
    const unit = installation.store.units.at(-1);
    expect(unit?.lane).toBe('settle');
    expect(unit?.appends[0]?.events[0]).toMatchObject({
      causationId: before,
      causeKind: 'event',
      actor: { sub: 'countersign' },
    });
    expect(next.state.status).toBe('completed');
    expect(next.row).toEqual((await installation.call(id)).row);
  });

  it('can go on from what it answers without reading again', async () => {
    const { installation, id } = await onTheWire();
    let call = await installation.recorder.record(await installation.call(id), UNKNOWN);
    call = await installation.recorder.record(call, START);
    call = await installation.recorder.record(call, ABSENT);
    expect(call.state.status).toBe('failed');
    expect(call.row).toEqual((await installation.call(id)).row);
  });

  it('says where recovery speaks for a process that is gone', async () => {
    const { installation, id } = await onTheWire();
    await installation.recorder.record(await installation.call(id), UNKNOWN, { producer: 'recovery', synthetic: true });
    expect(installation.store.events.at(-1)?.envelope).toMatchObject({ producer: 'recovery', synthetic: true });
  });

  it('lets nobody look before everything on the wire must have arrived', async () => {
    const { installation, id } = await onTheWire();
    await installation.recorder.record(await installation.call(id), UNKNOWN);
    expect(installation.store.rows('work')[0]).toMatchObject({
      kind: 'reconcile',
      next_at: '2031-01-01T10:00:35.000Z',
    });
  });

  it.each([
    ['of its own', {}, '2031-01-01T12:00:05.000Z'],
    ['of a dead owner', { producer: 'recovery', synthetic: true } as const, '2031-01-01T10:00:35.000Z'],
  ])(
    'gives an attempt %s its quiet time also where the clock has jumped beyond its deadline',
    async (_whose, how, at) => {
      const { installation, id } = await onTheWire();
      installation.clock.moveTo('2031-01-01T12:00:00.000Z');
      await installation.recorder.record(await installation.call(id), UNKNOWN, how);
      expect(installation.store.rows('work')[0]?.next_at).toBe(at);
    },
  );

  it('does nothing for a process that somebody has taken over from', async () => {
    const { installation, id } = await onTheWire();
    const call = await installation.call(id);
    const [instance] = installation.store.rows('instances');
    if (instance === undefined) throw new Error('no instance');
    installation.store.seed('instances', { ...instance, state: 'fenced' });
    await expect(installation.recorder.record(call, COMPLETE)).rejects.toThrow(GuardFailed);
  });
});

describe('recording how an attempt ended', () => {
  it('is what the attempt says while the call is where the attempt left it', async () => {
    const { installation, id } = await onTheWire();
    await installation.recorder.settle(await installation.call(id), COMPLETE);
    expect(installation.store.lastTypes).toEqual(['tool.call.dispatched', 'tool.call.accepted', 'tool.call.completed']);
  });

  it('comes after what was recorded before it, also when the clock of the wall was set back between them', async () => {
    const { installation, id } = await onTheWire();
    await installation.recorder.record(await installation.call(id), {
      kind: 'record_sent',
      sent: { dispatchedAt: TIMES.sentAt },
    });
    installation.clock.advance(-5_000);
    await installation.recorder.settle(await installation.call(id), COMPLETE);
    const stream = await installation.store.read.streamEvents(TENANT, { kind: 'call', id });
    const events = stream.map(({ envelope, payload }) => domainEventOf(envelope.eventType, payload));
    expect(events.map(({ type }) => type).slice(-3)).toEqual([
      'tool.call.dispatched',
      'tool.call.accepted',
      'tool.call.completed',
    ]);
    expect(stream.map(({ envelope }) => envelope.version)).toEqual(stream.map((_, index) => index + 1));
    const [before, after] = stream.slice(-3).map(({ envelope }) => envelope.occurredAt);
    expect((after ?? '') < (before ?? '')).toBe(true);
    expect((await installation.call(id)).state).toEqual(foldToolCall(null, events));
  });

  it('settles a call that was said to be unknown meanwhile, as evidence', async () => {
    const { installation, id } = await onTheWire();
    const call = await installation.call(id);
    await installation.record(id, UNKNOWN);
    await installation.recorder.settle(call, COMPLETE);
    expect(installation.store.lastTypes).toEqual(['reconciliation.resolved', 'tool.call.completed']);
    expect(installation.log.lines).toEqual([]);
  });

  it('is recorded as a contradiction of an end that says otherwise, which stays', async () => {
    const { installation, id } = await onTheWire();
    const call = await installation.call(id);
    await installation.record(id, UNKNOWN, START, ABSENT);
    await installation.recorder.settle(call, COMPLETE);
    expect(installation.store.lastTypes).toEqual(['tool.call.contradiction_recorded']);
    expect((await installation.call(id)).state.status).toBe('failed');
  });

  it('is recorded once where somebody recorded the same', async () => {
    const { installation, id } = await onTheWire();
    const call = await installation.call(id);
    await installation.record(id, COMPLETE);
    const units = installation.store.units.length;
    await installation.recorder.settle(call, COMPLETE);
    expect(installation.store.units).toHaveLength(units);
  });

  it('never ends a later attempt with the answer of an earlier one', async () => {
    const { installation, id } = await onTheWire();
    const first = await installation.call(id);
    await installation.record(id, UNKNOWN, START, ABSENT);
    const draft = installation.desk.beginAbout(first.row, { lane: 'govern', causeKind: 'timer' });
    const again = new CallInUnit(draft, await installation.call(id))
      .do({ kind: 'accept_retry', retry: { attempt: 2, previousStatus: 'failed' } })
      .do({ kind: 'record_decision', decision: decision('retry', 2) })
      .do({ kind: 'authorize', authorization: authorization(2) });
    const [capability] = installation.capabilities;
    if (capability === undefined) throw new Error('no capability');
    const { instance, clock } = installation.desk;
    const circumstances = { instance, nonce: 'att_2', target: {}, nowMs: clock.now() };
    again.do({
      kind: 'dispatch',
      now: installation.clock.iso,
      dispatch: planDispatch(capability, again.state, circumstances),
    });
    await installation.desk.commit(draft);
    await installation.recorder.settle(first, COMPLETE);
    expect((await installation.call(id)).state).toMatchObject({ status: 'dispatching', attempt: 2 });
  });

  it.each(['store_unavailable', 'durability_failed'] as const)('is tried again after %s', async (code) => {
    const { installation, id } = await onTheWire();
    let failures = 2;
    installation.store.beforeCommit = () => {
      failures -= 1;
      if (failures >= 0) throw new CountersignError(code, 'not now');
    };
    await installation.recorder.settle(await installation.call(id), COMPLETE);
    expect((await installation.call(id)).state.status).toBe('completed');
    expect(installation.log.lines).toEqual([]);
  });

  it('is given up and logged once its claim is over, and the call stays for the sweep', async () => {
    const { installation, id } = await onTheWire();
    const call = await installation.call(id);
    installation.clock.moveTo('2031-01-01T11:00:00.000Z');
    installation.store.beforeCommit = () => {
      throw new CountersignError('store_unavailable', 'hunter2');
    };
    await installation.recorder.settle(call, COMPLETE);
    expect(installation.log.lines).toMatchObject([
      { level: 'error', fields: { toolCallId: id, error: 'store_unavailable' } },
    ]);
    installation.store.beforeCommit = () => {};
    expect(await installation.store.read.workOf(TENANT, id)).toMatchObject({ kind: 'observe' });
  });

  it('goes to the log of a process that somebody has taken over from, at once and without the words of the tool', async () => {
    const { installation, id } = await onTheWire();
    let tries = 0;
    installation.store.beforeCommit = () => {
      tries += 1;
      throw new CountersignError('instance_taken_over', 'another process has taken over');
    };
    await installation.recorder.settle(await installation.call(id), COMPLETE);
    expect(tries).toBe(1);
    const { resultDigest } = completion('direct');
    const kept = { toolCallId: id, attempt: 1, error: 'instance_taken_over', answer: 'complete', resultDigest };
    expect(installation.log.lines.map(({ fields }) => fields)).toEqual([kept]);
  });

  it('is not tried again where it can never be recorded', async () => {
    const { installation, id } = await onTheWire();
    let tries = 0;
    installation.store.beforeCommit = () => {
      tries += 1;
      throw new Error('a payload that does not fit');
    };
    await installation.recorder.settle(await installation.call(id), COMPLETE);
    expect(tries).toBe(1);
    expect(installation.log.lines).toHaveLength(1);
  });
});
