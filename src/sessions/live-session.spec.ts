import { describe, expect, it } from '@jest/globals';
import { KEY, said } from '../../test/builders/conversation-examples.js';
import { seqsIn, SessionWorld, settled } from '../../test/builders/session-world.js';
import type { NewSessionEvent } from '../domain/session/session.append.js';
import type { SessionFact } from '../domain/session/session-row.js';
import type { LiveSession } from './live-session.js';
import type { AppendAnswer } from './live-session.parts.js';

const HARNESS = { producer: 'harness', ownerEpoch: 1 } as const;

/** A live session with a run, at seq 0. */
async function liveIn(world: SessionWorld): Promise<LiveSession> {
  const live = await world.coordinator().create(KEY);
  live.attach(1);
  live.mirror(world.record.governed.run());
  return live;
}

const append = (live: LiveSession, ...inputs: readonly NewSessionEvent[]): Promise<AppendAnswer> =>
  live.append(inputs, HARNESS);
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );
const typesOf = (facts: readonly SessionFact[]): readonly string[] =>
  facts.map((fact) => (fact.kind === 'mirror' ? `mirror ${fact.envelope.eventType}` : fact.eventType));

describe('a live session', () => {
  it('answers an append before anything is durable, and a flush after [D-01, D-03, D-09]', async () => {
    const world = new SessionWorld();
    const live = await liveIn(world);
    expect(await append(live, said.user('u-1'))).toMatchObject({ headSeq: 1, durableSeq: -1, events: [{ seq: 1 }] });
    expect(world.logs.artefacts.size).toBe(0);
    expect(await live.flush()).toBe(1);
    expect(world.logs.log.rows.map(({ seq }) => seq)).toEqual([0, 1]);
    expect(live.status()).toMatchObject({ headSeq: 1, durableSeq: 1, barrierSeq: 1, revision: '2' });
  });

  it('goes on appending while the medium refuses everything [D-05]', async () => {
    const world = new SessionWorld();
    world.logs.writeFaults = Array.from({ length: 9 }, () => new Error('disk'));
    const live = await liveIn(world);
    world.timers.advance(200);
    await settled();
    const answers = await Promise.all([append(live, said.user('a')), append(live, said.user('b'))]);
    expect(answers.map(({ headSeq }) => headSeq)).toEqual([1, 2]);
    expect(world.record.diagnostics).toEqual(['persistence.background_write_failed']);
  });

  it('writes many deltas in one batch [D-04]', async () => {
    const world = new SessionWorld();
    const live = await liveIn(world);
    await append(live, said.turn(), said.step());
    for (let index = 0; index < 500; index += 1) await append(live, said.delta(index));
    world.timers.advance(200);
    await settled();
    expect(world.logs.calls.filter((call) => call.startsWith('append'))).toHaveLength(1);
  });

  it('refuses a harness of an earlier epoch, and an attachment of one [U-27, P-35]', async () => {
    const live = await liveIn(new SessionWorld());
    live.attach(2);
    expect(await codeOf(append(live, said.user('u-1')))).toBe('owner_epoch_stale');
    expect(() => live.attach(1)).toThrow(expect.objectContaining({ code: 'owner_epoch_stale' }));
    expect(await codeOf(live.append([said.user('u-1')], { producer: 'harness', ownerEpoch: 2 }))).toBe('ok');
  });

  it('refuses chatter beyond its mark and governed facts never [D-08]', async () => {
    const world = new SessionWorld();
    const live = await world.coordinator({ writeBehind: { delayMs: 200, eventsMax: 2, bytesMax: 1e6 } }).create(KEY);
    live.attach(1);
    await append(live, said.user('a'), said.user('b'));
    expect(await codeOf(append(live, said.user('c')))).toBe('write_behind_saturated');
    live.mirror(world.record.governed.run());
    expect(live.status()).toMatchObject({ headSeq: 2, pending: 3 });
    await live.flush();
    expect(await codeOf(append(live, said.user('c')))).toBe('ok');
  });

  it('refuses more events than one append may have', async () => {
    const live = await liveIn(new SessionWorld());
    const many = Array.from({ length: 101 }, (_, at) => said.user(`u-${at}`));
    expect(await codeOf(append(live, ...many))).toBe('payload_too_large');
  });

  it('names the event and the place that is refused', async () => {
    const live = await liveIn(new SessionWorld());
    const bad = { eventType: 'metadata.updated', payload: { patch: { n: Number.NaN } } };
    await expect(append(live, said.user('u-1'), bad)).rejects.toMatchObject({
      code: 'state_not_serializable',
      details: { pointer: '/events/1/payload/patch/n' },
    });
    expect(live.status().headSeq).toBe(0);
  });

  it('contains what an observer throws and tells the others [D-14]', async () => {
    const world = new SessionWorld();
    const live = await liveIn(world);
    const seen: string[] = [];
    live.observe(() => seen.push('first'));
    live.observe(() => {
      throw new Error('second');
    });
    const leave = live.observe((facts) => seen.push(`third ${facts[0]?.seq}`));
    await append(live, said.user('u-1'));
    leave();
    await append(live, said.user('u-2'));
    expect(seen).toEqual(['first', 'third 1', 'first']);
    expect(live.status().headSeq).toBe(2);
    expect(world.record.diagnostics).toEqual(['persistence.observer_failed', 'persistence.observer_failed']);
  });

  it('shows readers only what is durable, and tells them when there is more [U-23]', async () => {
    const live = await liveIn(new SessionWorld());
    const told: number[] = [];
    live.onDurable((seq) => told.push(seq));
    await append(live, said.user('u-1'));
    expect(await live.rowsFrom(0, 10)).toEqual([]);
    await live.flush();
    await append(live, said.user('u-2'));
    expect((await live.rowsFrom(0, 10)).map(({ seq }) => seq)).toEqual([0, 1]);
    expect((await live.rowsFrom(1, 10)).map(({ seq }) => seq)).toEqual([1]);
    expect(told).toEqual([1]);
  });

  it('gives governed rows without the payload that only the store has', async () => {
    const live = await liveIn(new SessionWorld());
    await live.flush();
    const [mirror] = await live.rowsFrom(0, 1);
    expect(mirror).toMatchObject({ kind: 'mirror', payloadCommitment: 'commit-0' });
    expect(mirror).not.toHaveProperty('payload');
  });

  it('keeps few rows in memory however long it lasts, and its state says all of them', async () => {
    const world = new SessionWorld();
    const live = await liveIn(world);
    for (let n = 0; n < 20; n += 1) {
      await append(live, said.user(`a-${n}`), said.user(`b-${n}`));
      await live.flush();
    }
    expect(live.status().rowsInMemory).toBeLessThanOrEqual(21);
    expect(seqsIn(live.state())).toEqual(Array.from({ length: 41 }, (_, seq) => seq));
    expect((await live.rowsFrom(3, 2)).map(({ seq }) => seq)).toEqual([3, 4]);
    expect(world.logs.calls).toContain('read 3');
  });

  it('drops no row from memory that is not durable', async () => {
    const world = new SessionWorld();
    world.logs.writeFaults = [new Error('disk')];
    const live = await liveIn(world);
    await append(live, ...Array.from({ length: 50 }, (_, at) => said.user(`u-${at}`)));
    world.timers.advance(200);
    await settled();
    expect(live.status().rowsInMemory).toBe(51);
  });
});

describe('rows that wait for the disk', () => {
  it('stay in memory when others before them have become durable', async () => {
    const world = new SessionWorld();
    let open = (): void => {};
    world.logs.gate = new Promise((resolve) => (open = resolve));
    const live = await liveIn(world);
    world.timers.advance(200);
    await append(live, ...Array.from({ length: 50 }, (_, at) => said.user(`u-${at}`)));
    open();
    await settled();
    expect(live.status()).toMatchObject({ durableSeq: 0, rowsInMemory: 50 });
  });
});

describe('an append that names where it begins', () => {
  it('is refused where somebody else has appended since', async () => {
    const live = await liveIn(new SessionWorld());
    const at = { ...HARNESS, expectedSeq: 0 };
    await live.append([said.user('u-1')], at);
    expect(await codeOf(live.append([said.user('u-2')], at))).toBe('seq_conflict');
    expect(await codeOf(live.append([said.user('u-2')], { ...HARNESS, expectedSeq: 9 }))).toBe('seq_conflict');
    expect(await codeOf(live.append([said.user('u-1'), said.user('u-2')], at))).toBe('seq_conflict');
    expect(live.status().headSeq).toBe(1);
  });

  it.each([
    ['from memory', 0],
    ['from the log', 40],
  ])('is answered again as before when it is repeated, %s', async (_, later) => {
    const live = await liveIn(new SessionWorld());
    const at = { ...HARNESS, expectedSeq: 0 };
    const first = await live.append([said.user('u-1'), said.turn()], at);
    for (let n = 0; n < later; n += 1) await append(live, said.user(`later-${n}`));
    await live.flush();
    const again = await live.append([said.user('u-1'), said.turn()], at);
    expect(again.events).toEqual(first.events);
    expect(live.status().headSeq).toBe(2 + later);
  });
});

describe('governed events in a live session', () => {
  const begun = [said.turn(), said.step(), said.message('m-1', 'c')];

  it('are passed over when they are there already', async () => {
    const world = new SessionWorld();
    const live = await liveIn(world);
    const [first] = world.record.governed.all;
    if (first !== undefined) live.mirror(first);
    expect(live.status().headSeq).toBe(0);
  });

  it('answer the call in the conversation when it ends, once, and give a notice of what comes later [U-41]', async () => {
    const world = new SessionWorld();
    const live = await liveIn(world);
    const seen: SessionFact[] = [];
    await append(live, ...begun);
    live.observe((facts) => seen.push(...facts));
    const { governed } = world.record;
    live.mirror(governed.call('tool.call.proposed', 'c'));
    live.mirror(governed.call('tool.call.failed', 'c', { code: 'down', effect: 'none' }));
    live.mirror(governed.call('tool.call.retry_accepted', 'c'));
    live.mirror(governed.call('tool.call.completed', 'c', { result: 'paid' }));
    expect(typesOf(seen)).toEqual([
      'mirror tool.call.proposed',
      'mirror tool.call.failed',
      'tool.message',
      'mirror tool.call.retry_accepted',
      'mirror tool.call.completed',
      'notice.message',
    ]);
    expect(await codeOf(append(live, said.stepEnd()))).toBe('ok');
  });

  it('answer a call that ended before the message which lists it', async () => {
    const world = new SessionWorld();
    const live = await liveIn(world);
    await append(live, said.turn(), said.step());
    live.mirror(world.record.governed.call('tool.call.proposed', 'c'));
    live.mirror(world.record.governed.call('tool.call.completed', 'c', { result: 1 }));
    const answer = await append(live, said.message('m-1', 'c'));
    expect([answer.events.length, answer.headSeq]).toEqual([1, 6]);
    expect(live.facts.turn?.phase).toBe('settled');
  });

  it('keep a credential in a result out of the conversation, and the answer in it', async () => {
    const world = new SessionWorld();
    const live = await liveIn(world);
    await append(live, ...begun);
    live.mirror(world.record.governed.call('tool.call.proposed', 'c'));
    live.mirror(world.record.governed.call('tool.call.completed', 'c', { result: 'sk_live_9' }));
    await live.flush();
    expect(JSON.stringify(world.logs.log.rows)).not.toContain('sk_live_9');
    expect(live.facts.turn?.phase).toBe('settled');
  });

  it('let a stopped turn be closed for its harness, and a waiting one not', async () => {
    const world = new SessionWorld();
    const live = await liveIn(world);
    await append(live, ...begun);
    live.mirror(world.record.governed.call('tool.call.proposed', 'c'));
    live.mirror(world.record.governed.run('stop.requested'));
    expect(live.closeTurn('stopped')).toEqual([]);
    live.mirror(world.record.governed.call('tool.call.not_executed', 'c', { reason: 'stopped' }));
    expect(typesOf(live.closeTurn('stopped'))).toEqual(['step.ended', 'turn.ended']);
    expect(live.hasOpenTurn).toBe(false);
  });
});
