import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/builders/manual-clock.js';
import { settingsWith } from '../../test/builders/settings-examples.js';
import { Metrics } from '../system/metrics/metrics.js';
import { Readiness } from '../system/readiness.js';
import type { PolicyService } from './policy.service.js';
import { PolicyWatch } from './policy-watch.js';

class ScriptedService {
  inForce: string | null = 'sha256:set';
  good = true;
  permits: readonly object[] = [];
  readonly revision = (): string | null => this.inForce;
  readonly probe = (): Promise<boolean> => Promise.resolve(this.good);
  readonly unattended = (): readonly object[] => this.permits;
}

function watched() {
  const [service, clock, readiness] = [new ScriptedService(), new ManualClock('2031-01-01T00:00:00Z'), new Readiness()];
  const settings = settingsWith({ readiness: { probeIntervalMs: 5000 }, policy: { evaluationTimeoutMs: 2000 } });
  const watch = new PolicyWatch(service as unknown as PolicyService, settings, clock, readiness, new Metrics());
  return { service, clock, watch, reasons: () => readiness.reasons() };
}

const notReady = (detail: string) => [{ name: 'policy', weight: 'not_ready', detail }];

describe('the watch over the policy engine', () => {
  it('says nothing while the engine gives its known answers', async () => {
    const { clock, watch, reasons } = watched();
    for (let times = 0; times < 3; times += 1) {
      clock.advance(6000);
      await watch.look();
      expect(reasons()).toEqual([]);
    }
  });

  it('is a reason against the process while the engine answers otherwise, with the age of the last good answer', async () => {
    const { service, clock, watch, reasons } = watched();
    await watch.look();
    clock.advance(5000);
    service.good = false;
    await watch.look();
    expect(reasons()).toEqual(notReady('the policy engine last gave its known answers 5 s ago'));
    service.good = true;
    await watch.look();
    expect(reasons()).toEqual([]);
  });

  it('is a reason when the engine has not answered at all for a while', () => {
    const { clock, reasons } = watched();
    clock.advance(21_000);
    expect(reasons()).toEqual([]);
    clock.advance(1);
    expect(reasons()).toEqual(notReady('the policy engine last gave its known answers 21 s ago'));
  });

  it('is a reason where no set is in force', () => {
    const { service, reasons } = watched();
    service.inForce = null;
    expect(reasons()).toEqual(notReady('no policy set is in force'));
  });

  it('lists what may run unattended without holding it against the process', () => {
    const { service, reasons } = watched();
    service.permits = [{ capability: 'refund.create', policyId: 'small-refunds', reason: 'below 10 nobody looks' }];
    expect(reasons()).toEqual([
      {
        name: 'unattended_permits',
        weight: 'information',
        detail: '1 permits let a capability of high risk run unattended',
        about: ['refund.create by small-refunds: below 10 nobody looks'],
      },
    ]);
  });
});
