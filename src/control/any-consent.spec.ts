import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { CONSENT_DOINGS, ConsentWorld, type ConsentDoing } from '../../test/builders/consent-world.js';
import { ERRORS } from '../domain/errors/error-codes.js';

/** Many sequences on a busy machine. */
jest.setTimeout(60_000);

const WORDS = Object.keys(CONSENT_DOINGS) as ConsentDoing['what'][];
/** Drawn evenly a call would seldom come as far as being sent. */
const LIKELY: readonly ConsentDoing['what'][] = [
  'propose',
  'propose',
  'propose',
  'vote',
  'vote',
  'vote',
  'vote',
  'dispatch',
  'dispatch',
  'dispatch',
  'answer',
  'answer',
  'retry',
  'give_grant',
];

const draw = fc.noBias(fc.nat({ max: 9_999 }));
const doing = fc.record({ what: fc.constantFrom(...WORDS, ...LIKELY), pick: draw, flavour: draw });
/** What stands in one inner array happens at once. */
const doings = fc.array(fc.array(doing, { minLength: 1, maxLength: 3 }), { minLength: 25, maxLength: 50, size: 'max' });

async function played(steps: readonly (readonly ConsentDoing[])[]): Promise<ConsentWorld> {
  const world = new ConsentWorld();
  for (let flavour = 0; flavour < 6; flavour += 1) await world.act({ what: 'propose', pick: 0, flavour });
  for (const atOnce of steps) await Promise.all(atOnce.map((step) => world.act(step)));
  return world;
}

describe('any sequence of votes, expiries, revocations, pauses, policy changes and stops', () => {
  it('sends nothing that the policy in force at that moment would not allow with what is on record at that moment', async () => {
    await fc.assert(
      fc.asyncProperty(doings, async (steps) => {
        const { wrong, answers } = await played(steps);
        expect(wrong).toEqual([]);
        expect(answers.filter((answer) => answer !== 'accepted' && !Object.hasOwn(ERRORS, answer))).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });

  it('comes past every kind of consent and every way to lose it, so that this speaks of all of them', async () => {
    const seen = new Set<string>();
    const restedOn = new Set<string>();
    await fc.assert(
      fc.asyncProperty(doings, async (steps) => {
        const world = await played(steps);
        for (const ground of world.restedOn) restedOn.add(ground);
        for (const { envelope } of world.installation.store.events) seen.add(envelope.eventType);
      }),
      { numRuns: 20, seed: 11 },
    );
    expect([...restedOn].toSorted()).toEqual(['another policy', 'delegation', 'emergency', 'grants', 'retry', 'votes']);
    const wanted = [
      'approval.vote_withdrawn',
      'approval.delegated',
      'approval.escalated',
      'approval.break_glass_used',
      'approval.invalidated',
      'capability.authorization_withdrawn',
      'grant.created',
      'grant.revoked',
      'grant.expired',
      'pause.set',
      'pause.cleared',
      'run.stopped',
      'run.suspended',
      'tool.call.denied',
      'tool.call.not_executed',
      'tool.call.retry_accepted',
    ];
    expect(wanted.filter((type) => !seen.has(type))).toEqual([]);
  });
});
