import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TENANT } from '../../builders/installation.js';
import { PolicyWorld } from '../../builders/policy-world.js';
import type { ReplayedDecision } from '../../../src/policy/life/decision-replay.js';

const PERMIT = '@id("permit") permit(principal, action, resource);';
const ASK = `@id("ask") @on_deny("requires_confirmation") @approvers("finance") @quorum("1") @reason("Much money.")
  forbid(principal, action, resource) when { context.input.amountMinor > 1000 }
  unless { context.approvals.finance.count >= 1 };`;
const HARD = '@id("hard") forbid(principal, action, resource) when { context.input.amountMinor > 5000 };';
const SETS = [`${PERMIT} ${ASK}`, `${PERMIT} ${ASK} ${HARD}`, `${PERMIT} ${ASK} ${HARD.replace('5000', '500')}`];

let world: PolicyWorld;
const answers = (all: readonly ReplayedDecision[]): string[] => all.map(({ answer }) => answer.answer);

beforeEach(async () => {
  world = await PolicyWorld.with(SETS[0] ?? '');
});

describe('a recorded decision', () => {
  it('is decided the same when its set is asked again', async () => {
    const call = await world.installation.propose({ arguments: { orderId: 'o-1', amountMinor: 2000 } });
    const [replayed] = await world.replay.ofCall(TENANT, call);
    expect(replayed).toMatchObject({
      toolCallId: call,
      decided: { phase: 'propose', outcome: 'requires_confirmation' },
      answer: { answer: 'same' },
    });
    expect(await world.replay.one(TENANT, replayed?.policyDecisionId ?? '')).toEqual(replayed);
  });

  it('is replayed with the set that made it, and not with the one in force', async () => {
    const call = await world.installation.propose({ arguments: { orderId: 'o-1', amountMinor: 700 } });
    await world.activate(SETS[2] ?? '');
    expect(answers(await world.replay.ofCall(TENANT, call))).toEqual(['same']);
  });

  it.each([
    ['its outcome', { outcome: 'deny' }, 'outcome'],
    ['what determined it', { determining: ['other'] }, 'determining'],
    ['its reasons', { reasons: ['because'] }, 'reasons'],
    ['its obligations', { obligations: null }, 'obligations'],
  ])('that was recorded with another word for %s is told apart', async (_, change, field) => {
    const call = await world.installation.propose({ arguments: { orderId: 'o-1', amountMinor: 2000 } });
    const event = world.installation.store.events.find(({ envelope }) => envelope.eventType === 'policy.decided');
    Object.assign(event?.payload ?? {}, change);
    const [replayed] = await world.replay.ofCall(TENANT, call);
    expect(replayed?.answer).toMatchObject({ answer: 'different', differences: [{ field }] });
  });

  it('about other arguments than were judged is told apart by the digest of the request', async () => {
    const call = await world.installation.propose({ arguments: { orderId: 'o-1', amountMinor: 100 } });
    const event = world.installation.store.events.find(({ envelope }) => envelope.eventType === 'tool.call.proposed');
    Object.assign(event?.payload ?? {}, { arguments: { orderId: 'o-1', amountMinor: 101 } });
    const [replayed] = await world.replay.ofCall(TENANT, call);
    expect(replayed?.answer).toMatchObject({ answer: 'different', differences: [{ field: 'requestDigest' }] });
  });

  it('whose session has been erased cannot be replayed, and says so', async () => {
    const call = await world.installation.propose();
    const { row } = await world.installation.call(call);
    world.installation.store.erased.add(row.session_id);
    const [replayed] = await world.replay.ofCall(TENANT, call);
    expect(replayed).toMatchObject({ decided: null, answer: { answer: 'not_replayable', reason: 'erased' } });
  });

  it('by a set that nobody kept cannot be replayed, and says so', async () => {
    const call = await world.installation.propose();
    const event = world.installation.store.events.find(({ envelope }) => envelope.eventType === 'policy.decided');
    Object.assign(event?.payload ?? {}, { policyRevision: 'sha256:before' });
    const [replayed] = await world.replay.ofCall(TENANT, call);
    expect(replayed?.answer).toEqual({ answer: 'not_replayable', reason: 'unknown_revision' });
  });

  it('by a set that this engine makes another of cannot be replayed, and says so', async () => {
    const call = await world.installation.propose();
    const [row] = world.installation.store.rows('policy_sets');
    Object.assign(row ?? {}, { content: JSON.stringify(world.candidate(SETS[1] ?? '')) });
    const [replayed] = await world.replay.ofCall(TENANT, call);
    expect(replayed?.answer).toEqual({ answer: 'not_replayable', reason: 'engine_version' });
  });

  it('is not there for ids that name none', async () => {
    expect(await world.replay.one(TENANT, 'dec_none')).toBeNull();
    expect(await world.replay.ofCall(TENANT, 'call_none')).toEqual([]);
    expect(await world.replay.ofCall('globex', await world.installation.propose())).toEqual([]);
  });
});

describe('in any world', () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ amountMinor: fc.integer({ min: 1, max: 9000 }) }) },
    { weight: 1, arbitrary: fc.record({ set: fc.nat({ max: SETS.length - 1 }) }) },
    { weight: 1, arbitrary: fc.record({ sweep: fc.constant(true) }) },
  );

  it('every recorded decision replays to the same answer, whatever has been in force since', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const { installation, replay } = (world = await PolicyWorld.with(SETS[0] ?? ''));
        const calls: string[] = [];
        for (const [index, what] of steps.entries()) {
          if ('amountMinor' in what) {
            const args = { orderId: `o-${index}`, amountMinor: what.amountMinor };
            calls.push(await installation.propose({ arguments: args }));
          } else if ('set' in what) await world.activate(SETS[what.set] ?? '');
          else {
            for (const id of calls) {
              const { row } = await installation.call(id);
              if (row.status !== 'proposed') continue;
              await installation.rejudgement.rejudge(
                await installation.approvalOf(id),
                await installation.call(id),
                'policy_changed',
              );
            }
          }
        }
        const replayed = (await Promise.all(calls.map((id) => replay.ofCall(TENANT, id)))).flat();
        expect(replayed).toHaveLength(world.recorded.length);
        expect(new Set(answers(replayed))).toEqual(new Set(calls.length === 0 ? [] : ['same']));
      }),
      { numRuns: 12 },
    );
  });

  it('a decision at dispatch, with the votes of people in it, replays too', async () => {
    const call = await world.installation.propose({ arguments: { orderId: 'o-1', amountMinor: 2000 } });
    const papers = await world.installation.judge.open(await world.installation.call(call));
    const request = { ...papers.request, approvals: { finance: { count: 1, includesRequester: false } }, attempt: 2 };
    const decision = await world.service.decide(request);
    expect(decision.outcome).toBe('allow');
    const event = world.installation.store.events.find(({ envelope }) => envelope.eventType === 'policy.decided');
    const { input: _, ...rest } = request;
    const payload = { ...event?.payload, ...decision, phase: 'dispatch', request: rest };
    Object.assign(event?.payload ?? {}, payload);
    const [replayed] = await world.replay.ofCall(TENANT, call);
    expect(replayed).toMatchObject({ decided: { phase: 'dispatch', outcome: 'allow' }, answer: { answer: 'same' } });
  });
});
