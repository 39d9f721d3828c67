import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Installation, refundCapability } from '../../test/builders/installation.js';
import { callIn } from '../../test/builders/tool-call-examples.js';
import { capabilityIsActive, planDispatch } from './dispatch-plan.js';

const CAPABILITY = refundCapability();
const NOW_MS = Date.parse('2031-01-01T10:00:00.000Z');
const CIRCUMSTANCES = {
  instance: { instanceId: 'ins_1', epoch: 7 },
  nonce: 'att_1',
  target: { url: 'https://pay.example' },
  nowMs: NOW_MS,
};

describe('the intent to send', () => {
  it('names its attempt, its owner and the key that every attempt sends', () => {
    const state = { ...callIn('authorized'), attempt: 3 };
    expect(planDispatch(CAPABILITY, state, CIRCUMSTANCES)).toMatchObject({
      attempt: 3,
      fence: 3,
      nonce: 'att_1',
      owner: 'ins_1',
      ownerEpoch: 7,
      downstreamKey: state.downstreamKey,
      target: { url: 'https://pay.example' },
      dispatchIntentAt: '2031-01-01T10:00:00.000Z',
    });
  });

  it('ends after the time of the manifest, and never after the caller’s', () => {
    fc.assert(
      fc.property(fc.option(fc.integer({ min: 1, max: 3_600_000 })), (leftMs) => {
        const executeBefore = leftMs === null ? null : new Date(NOW_MS + leftMs).toISOString();
        const { deadline } = planDispatch(CAPABILITY, { ...callIn('authorized'), executeBefore }, CIRCUMSTANCES);
        const expected = Math.min(CAPABILITY.manifest.timeoutMs, leftMs ?? Number.POSITIVE_INFINITY);
        return Date.parse(deadline) === NOW_MS + expected;
      }),
    );
  });
});

describe('the guard of a capability', () => {
  it.each([
    ['is as it was judged', {}, true],
    ['is held', { state: 'held' }, false],
    ['is superseded', { state: 'superseded' }, false],
    ['has another definition', { manifest_digest: 'sha256:other' }, false],
    ['has another version', { version: '9.0.0' }, false],
  ] as const)('where it %s holds: %p %p', async (_, change, holds) => {
    const { store, desk, capabilities } = new Installation();
    const [capability] = capabilities;
    const [row] = store.rows('capabilities');
    if (capability === undefined || row === undefined) throw new Error('no capability');
    await store.commit(
      desk
        .beginInstallation('x')
        .write({ op: 'delete', table: 'capabilities', where: { name: row.name } })
        .write({ op: 'put', table: 'capabilities', row: { ...row, ...change } })
        .build(),
    );
    const unit = desk.beginInstallation('x').guard(capabilityIsActive(capability)).build();
    const held = await store.commit(unit).then(
      () => true,
      (error: { guard?: string }) => error.guard !== 'capability',
    );
    expect(held).toBe(holds);
  });
});
