import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { PolicyShadow, SHADOW_QUEUE_MAX } from '../../../src/policy/life/shadow.worker.js';
import { DIFFERENCES_MAX, ShadowRecord } from '../../../src/policy/life/shadow-record.js';
import type { StoredSet } from '../../../src/policy/life/stored-sets.js';
import type { Unit } from '../../../src/storage/unit.js';
import { Metrics } from '../../../src/system/metrics/metrics.js';
import { PolicyWorld } from '../../builders/policy-world.js';

const PERMIT = '@id("permit") @unattended("a world of its own") permit(principal, action, resource);';
const hard = (above: number): string =>
  `@id("hard") forbid(principal, action, resource) when { context.input.amountMinor > ${above} };`;

let world: PolicyWorld;
let record: ShadowRecord;
let shadow: PolicyShadow;
let metrics: Metrics;
let order = 0;

const propose = (amountMinor: number): Promise<string> => {
  order += 1;
  return world.installation.propose({ arguments: { orderId: `o-${order}`, amountMinor } });
};

const stored = (text: string, revision = 'sha256:shadow'): StoredSet => ({
  revision,
  engineVersion: 'cedar/4',
  schemaDigest: 'sha256:schema',
  policyIds: [],
  candidate: world.candidate(text),
  firstSeen: world.installation.clock.iso,
});

async function follow(text: string, revision?: string): Promise<void> {
  await world.trials.makeSpare();
  await shadow.follow(stored(text, revision));
}

async function settled(): Promise<void> {
  await shadow.idle();
  await shadow.flush();
}

const flips = () =>
  world.installation.store
    .rows('policy_shadow_flips')
    .map(({ from_outcome: from, to_outcome: to, count }) => `${from} -> ${to}: ${count}`);
const differences = () => world.installation.store.rows('policy_shadow_differences');

beforeEach(async () => {
  world = await PolicyWorld.with(PERMIT);
  const { desk, log } = world.installation;
  metrics = new Metrics();
  record = new ShadowRecord(desk, metrics);
  shadow = new PolicyShadow(desk, world.trials, world.decisions, record, log);
});
afterEach(() => shadow.stop());

describe('a shadow', () => {
  it('is asked about every decision once that is recorded, and what it says otherwise is kept', async () => {
    await follow(`${PERMIT} ${hard(500)}`);
    await propose(100);
    const call = await propose(700);
    await settled();
    expect(flips()).toEqual(['allow -> allow: 1', 'allow -> deny: 1']);
    expect(differences()).toMatchObject([
      {
        tool_call_id: call,
        capability: 'refund.create',
        from_outcome: 'allow',
        from_determining: '["permit"]',
        to_outcome: 'deny',
        to_determining: '["hard"]',
      },
    ]);
  });

  it('changes no answer', async () => {
    await follow(`${PERMIT} ${hard(0)}`);
    const { row } = await world.installation.call(await propose(700));
    expect(row.status).not.toBe('denied');
  });

  it('keeps no value of any argument', async () => {
    await follow(`${PERMIT} ${hard(0)}`);
    await world.installation.propose({ arguments: { orderId: 'secret-order', amountMinor: 7777 } });
    await settled();
    expect(JSON.stringify(differences())).not.toMatch(/secret-order|7777/);
  });

  it('is asked about decisions without their proposal too', async () => {
    await follow(`${PERMIT} ${hard(500)}`);
    const call = await propose(700);
    const decided = world.installation.store.units.at(-1)?.appends.flatMap(({ events }) => events);
    const decision = decided?.find(({ type }) => type === 'policy.decided');
    await settled();
    const loaded = await world.installation.call(call);
    const draft = world.installation.desk.beginAbout(loaded.row, { lane: 'govern', causeKind: 'event' });
    const payload = { ...decision?.payload, phase: 'dispatch' } as never;
    const stream = { kind: 'call', id: call } as const;
    const version = await world.installation.desk.read.streamVersion(stream);
    draft.append(stream, version, [{ type: 'policy.decided', payload }], {});
    await world.installation.desk.commit(draft);
    await settled();
    expect(flips()).toEqual(['allow -> deny: 2']);
    expect(differences().map(({ phase }) => phase)).toEqual(['propose', 'dispatch']);
  });

  it('goes on counting where an earlier process has ended', async () => {
    await follow(`${PERMIT} ${hard(500)}`);
    await propose(700);
    await settled();
    await shadow.stop();
    const { desk, log } = world.installation;
    record = new ShadowRecord(desk, new Metrics());
    shadow = new PolicyShadow(desk, world.trials, world.decisions, record, log);
    await follow(`${PERMIT} ${hard(500)}`);
    await propose(701);
    await settled();
    expect(flips()).toEqual(['allow -> deny: 2']);
    expect(differences().map(({ sequence }) => sequence)).toEqual([1, 2]);
  });

  it('keeps the newest differences in a ring and counts all', async () => {
    await follow(`${PERMIT} ${hard(500)}`);
    const recorded = { outcome: 'allow', determining: [], phase: 'propose' } as never;
    const now = { outcome: 'deny', determining: ['hard'] } as never;
    const about = { tenant: 'acme', policyDecisionId: 'dec', capability: 'c', decidedAt: 'now', recorded, now };
    for (let index = 1; index <= DIFFERENCES_MAX + 5; index += 1) record.add({ ...about, toolCallId: `call-${index}` });
    let writes: Unit['writes'] = [];
    world.installation.store.beforeCommit = (unit) => {
      ({ writes } = unit);
      throw new Error('seen enough');
    };
    await settled();
    const rows = writes.flatMap((write) => ('row' in write ? [write.row] : []));
    const kept = rows.filter((row) => 'slot' in row);
    expect(kept).toHaveLength(DIFFERENCES_MAX);
    expect(Math.min(...kept.map(({ sequence }) => sequence))).toBe(6);
    expect(new Set(kept.map(({ slot }) => slot)).size).toBe(DIFFERENCES_MAX);
    expect(rows.find((row) => 'count' in row)).toMatchObject({ count: DIFFERENCES_MAX + 5 });
  });

  it('drops and counts what is too much for it, and never holds up a commit', async () => {
    await follow(`${PERMIT} ${hard(500)}`);
    const [unit] = [world.installation.store.units.length];
    await propose(1);
    const committed = world.installation.store.units[unit];
    if (committed === undefined) throw new Error('no unit');
    await settled();
    const known = { unitId: 'u', firstPosition: 0, eventCount: 3, recordedAt: world.installation.clock.iso };
    for (let index = 0; index < SHADOW_QUEUE_MAX + 7; index += 1) {
      world.installation.store.feed.publish({ unit: committed, committed: known });
    }
    expect(shadow.state()).toMatchObject({ dropped: 7 });
    await settled();
    expect(flips()).toEqual([`allow -> allow: ${SHADOW_QUEUE_MAX + 1}`]);
    expect(await metrics.text()).toContain('countersign_policy_shadow_dropped_total 7');
  });

  it('that does not pass its check any more is not asked, and says so', async () => {
    await follow('permit(principal, action, resource);');
    expect(shadow.state()).toMatchObject({ state: 'refused' });
    await propose(100);
    await settled();
    expect(flips()).toEqual([]);
  });

  it('that has ended is asked no more, and the feed is let go', async () => {
    await follow(`${PERMIT} ${hard(500)}`);
    await shadow.stop();
    await propose(700);
    await settled();
    expect(shadow.state()).toBeNull();
    expect(flips()).toEqual([]);
  });

  it('gives way to the next one', async () => {
    await follow(`${PERMIT} ${hard(500)}`);
    await follow(`${PERMIT} ${hard(5000)}`, 'sha256:next');
    await propose(700);
    await settled();
    expect(flips()).toEqual(['allow -> allow: 1']);
    expect(shadow.state()?.revision).toBe('sha256:next');
  });

  it('whose findings cannot be written fails no call', async () => {
    await follow(`${PERMIT} ${hard(500)}`);
    await propose(700);
    await shadow.idle();
    world.installation.store.beforeCommit = () => {
      throw new Error('the disk is full');
    };
    await shadow.flush();
    expect(world.installation.log.lines.at(-1)).toMatchObject({ level: 'warn' });
  });

  it('whose engine fails leaves what it was not asked about counted as unanswered', async () => {
    await follow(PERMIT);
    const event = { capabilityVersion: '0.9.0' };
    const commit = world.installation.store.beforeCommit;
    world.installation.store.beforeCommit = (unit) => {
      for (const { payload, type } of unit.appends.flatMap(({ events }) => events)) {
        if (type === 'policy.decided') Object.assign((payload['request'] ?? {}) as object, event);
      }
      commit(unit);
    };
    await propose(700);
    await settled();
    expect(shadow.state()).toMatchObject({ unanswered: 1 });
    expect(flips()).toEqual([]);
  });
});
