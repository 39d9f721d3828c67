import { describe, expect, it } from '@jest/globals';
import { Installation, refundCapability } from '../../test/builders/installation.js';
import { CapabilityRegistry } from './capability-registry.js';
import type { Capability } from './manifest.js';
import { CapabilityRegistration } from './registration.js';

/** An installation as it is before its first start. */
function fresh(): Installation {
  const installation = new Installation({ capabilities: [] });
  return installation;
}

const register = ({ desk }: Installation, ...capabilities: readonly Capability[]): Promise<void> =>
  new CapabilityRegistration(desk, new CapabilityRegistry(capabilities)).register();

const inForce = ({ store }: Installation) =>
  store.rows('capabilities').map(({ version, state }) => `${version} ${state}`);

describe('pinning the manifests in force', () => {
  it('records each version once with the digest of its definition', async () => {
    const installation = fresh();
    const capability = refundCapability();
    await register(installation, capability);
    await register(installation, capability);
    expect(installation.store.units).toHaveLength(1);
    expect(installation.store.events[0]?.payload).toEqual({
      capabilityVersion: '1.0.0',
      manifestDigest: capability.manifestDigest,
      supersedesVersion: null,
    });
    expect(installation.store.rows('capabilities')[0]).toMatchObject({ state: 'active', stream_version: 1 });
  });

  it('supersedes a version with the next, and goes back', async () => {
    const installation = fresh();
    await register(installation, refundCapability());
    await register(installation, refundCapability({ version: '2.0.0' }));
    expect(inForce(installation)).toEqual(['1.0.0 superseded', '2.0.0 active']);
    await register(installation, refundCapability());
    expect(inForce(installation).toSorted()).toEqual(['1.0.0 active', '2.0.0 superseded']);
    expect(
      installation.store.events.map(({ envelope, payload }) => [envelope.eventType, payload['supersedesVersion']]),
    ).toEqual([
      ['capability.registered', null],
      ['capability.registered', '1.0.0'],
      ['capability.rolled_back', '2.0.0'],
    ]);
  });

  it('stops the start where a version has another definition than was recorded, before anything is written', async () => {
    const installation = fresh();
    await register(installation, refundCapability());
    const drifted = refundCapability({ title: 'Refund anything' });
    await expect(register(installation, refundCapability({ name: 'another.one' }), drifted)).rejects.toMatchObject({
      code: 'capability_definition_changed',
      details: { problems: [expect.stringContaining('refund.create@1.0.0')] },
    });
    expect(installation.store.units).toHaveLength(1);
  });

  it('leaves a capability held that was held', async () => {
    const installation = fresh();
    await register(installation, refundCapability());
    const [row] = installation.store.rows('capabilities');
    if (row !== undefined) installation.store.seed('capabilities', { ...row, state: 'held' });
    await register(installation, refundCapability());
    expect(inForce(installation)).toEqual(['1.0.0 held']);
  });
});
