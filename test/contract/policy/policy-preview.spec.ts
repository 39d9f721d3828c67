import { beforeEach, describe, expect, it } from '@jest/globals';
import { CountersignError } from '../../../src/domain/errors/countersign-error.js';
import type { Preview, PreviewRange } from '../../../src/policy/life/policy-preview.js';
import { PREVIEW_LIMITS } from '../../../src/policy/life/policy-preview.js';
import { PolicyWorld } from '../../builders/policy-world.js';

const PERMIT = '@id("permit") @unattended("a world of its own") permit(principal, action, resource);';
const ask = (above: number): string =>
  `@id("ask") @on_deny("requires_confirmation") @approvers("finance")
   forbid(principal, action, resource) when { context.input.amountMinor > ${above} }
   unless { context.approvals.finance.count >= 1 };`;
const hard = (above: number): string =>
  `@id("hard") forbid(principal, action, resource) when { context.input.amountMinor > ${above} };`;
const IN_FORCE = `${PERMIT} ${ask(1000)}`;
const EVERYTHING: PreviewRange = { limit: 1000, from: null, to: null };

let world: PolicyWorld;
let order = 0;
const propose = (amountMinor: number): Promise<string> => {
  order += 1;
  return world.installation.propose({ arguments: { orderId: `o-${order}`, amountMinor } });
};
const preview = (text: string, range: Partial<PreviewRange> = {}): Promise<Preview> =>
  world.preview.run(world.candidate(text), { ...EVERYTHING, ...range });

beforeEach(async () => {
  world = await PolicyWorld.with(IN_FORCE);
});

describe('a preview', () => {
  it('says which decisions would turn, the newest first, and who would have decided', async () => {
    const small = await propose(100);
    const middle = await propose(700);
    const large = await propose(2000);
    const { decisions } = await preview(`${PERMIT} ${ask(500)} ${hard(1500)}`);
    expect(decisions).toMatchObject({ looked: 3, flipped: 2, end: 'all', skipped: {} });
    expect(decisions.flips.map(({ toolCallId, from, to }) => [toolCallId, from, to])).toEqual([
      [
        large,
        { outcome: 'requires_confirmation', determining: ['ask'] },
        { outcome: 'deny', determining: ['ask', 'hard'] },
      ],
      [
        middle,
        { outcome: 'allow', determining: ['permit'] },
        { outcome: 'requires_confirmation', determining: ['ask'] },
      ],
    ]);
    expect(decisions.flips.map(({ toolCallId }) => toolCallId)).not.toContain(small);
  });

  it('holds no value of any argument', async () => {
    await world.installation.propose({ arguments: { orderId: 'secret-order', amountMinor: 7777 } });
    expect(JSON.stringify(await preview(`${PERMIT} ${hard(1)}`))).not.toMatch(/secret-order|7777/);
  });

  it('of the set in force turns nothing and ends no question', async () => {
    await propose(2000);
    const { decisions, approvals } = await preview(IN_FORCE);
    expect(decisions.flipped).toBe(0);
    expect(approvals).toMatchObject({ looked: 1, stale: [] });
  });

  it('says what becomes of every question that is open', async () => {
    const [small, middle, large] = [await propose(1100), await propose(2000), await propose(9000)];
    const { approvals } = await preview(`${PERMIT} ${ask(1500)} ${hard(5000)}`);
    expect(new Map(approvals.stale.map(({ toolCallId, becomes }) => [toolCallId, becomes]))).toEqual(
      new Map([
        [small, 'allowed'],
        [middle, 'asked_anew'],
        [large, 'denied'],
      ]),
    );
  });

  it('writes nothing', async () => {
    await propose(2000);
    const { store } = world.installation;
    const units = store.units.length;
    await preview(`${PERMIT} ${hard(1)}`);
    expect(store.units).toHaveLength(units);
    expect(world.service.revision()).toBe(world.installation.revision);
  });

  it('of a set with problems answers them and asks it nothing', async () => {
    await propose(100);
    const { report, decisions } = await preview('permit(principal, action, resource);');
    expect(report.problems.map(({ code }) => code)).toContain('annotation');
    expect(decisions).toMatchObject({ looked: 0, flips: [] });
  });

  it('looks at no more decisions than it is told, the newest of them', async () => {
    await propose(700);
    const last = await propose(701);
    const { decisions } = await preview(`${PERMIT} ${ask(500)}`, { limit: 1 });
    expect(decisions).toMatchObject({ looked: 1, end: 'limit', flips: [{ toolCallId: last }] });
  });

  it('looks only at what was recorded in the time it is told', async () => {
    const { clock } = world.installation;
    const first = await propose(700);
    clock.advance(60_000);
    const middle = clock.iso;
    await propose(701);
    const { decisions } = await preview(`${PERMIT} ${ask(500)}`, { to: middle });
    expect(decisions.flips.map(({ toolCallId }) => toolCallId)).toEqual([first]);
    expect((await preview(`${PERMIT} ${ask(500)}`, { from: middle })).decisions.looked).toBe(1);
  });

  it('counts what it cannot compare by why, and goes on', async () => {
    const gone = await propose(700);
    await world.installation.propose({ arguments: { orderId: 'o-x', amountMinor: 701 }, runLabel: 'another' });
    world.installation.store.erased.add((await world.installation.call(gone)).row.session_id);
    const { decisions } = await preview(`${PERMIT} ${ask(500)}`);
    expect(decisions).toMatchObject({ looked: 2, flipped: 1, skipped: { erased: 1 } });
  });

  it('counts what was decided about another version of a capability as not comparable, never as a denial', async () => {
    await propose(700);
    const event = world.installation.store.events.find(({ envelope }) => envelope.eventType === 'policy.decided');
    Object.assign((event?.payload['request'] ?? {}) as object, { capabilityVersion: '0.9.0' });
    const { decisions } = await preview(`${PERMIT} ${ask(500)}`);
    expect(decisions).toMatchObject({ flipped: 0, skipped: { capability_version_mismatch: 1 } });
  });

  it('ends when its time is up and says so', async () => {
    for (let index = 0; index < 150; index += 1) await propose(700);
    const { clock } = world.installation;
    let looks = 0;
    const monotonic = clock.monotonic.bind(clock);
    clock.monotonic = () => monotonic() + (looks++ === 0 ? 0 : PREVIEW_LIMITS.timeMs + 1);
    const { decisions } = await preview(`${PERMIT} ${ask(500)}`);
    expect(decisions.end).toBe('time');
    expect(decisions.looked).toBeLessThan(150);
  });

  it('passes on what is wrong with the store, as it does everywhere', async () => {
    await propose(700);
    world.installation.desk.read.decisionsIn = () =>
      Promise.reject(new CountersignError('store_unavailable', 'the disk is gone'));
    await expect(preview(`${PERMIT} ${ask(500)}`)).rejects.toMatchObject({ code: 'store_unavailable' });
  });
});
