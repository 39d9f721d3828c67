import { describe, expect, it } from '@jest/globals';
import { Installation, refundCapability } from '../../test/builders/installation.js';

describe('what stands between a call and its tool', () => {
  it('is the definition it was made with, as long as it is in force', () => {
    const capability = refundCapability();
    const { gate } = new Installation({ capabilities: [capability] });
    const { manifestDigest } = capability;
    expect(gate.bound({ capability: 'refund.create', manifestDigest })).toBe(capability);
    expect(gate.bound({ capability: 'refund.create', manifestDigest: 'sha256:another' })).toBeUndefined();
    expect(gate.bound({ capability: 'payout.create', manifestDigest })).toBeUndefined();
    expect(gate.get('refund.create')).toBe(capability);
    expect(gate.get('payout.create')).toBeUndefined();
  });

  it('changes its digest with every change of meaning', () => {
    const digests = [{}, { version: '2.0.0' }, { title: 'Another' }, { timeout: '1s' }].map(
      (changes) => refundCapability(changes).manifestDigest,
    );
    expect(new Set(digests).size).toBe(4);
  });

  it('is guarded with pauses and the definition in every unit that would send', () => {
    const installation = new Installation();
    const [capability] = installation.capabilities;
    if (capability === undefined) throw new Error('no capability');
    const guards = installation.gate.guards(capability, 'acme', { sub: 'sam' });
    expect(guards.map(({ name }) => name)).toEqual(['pauses', 'capability']);
  });
});
