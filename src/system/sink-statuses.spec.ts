import { describe, expect, it } from '@jest/globals';
import { Metrics } from './metrics/metrics.js';
import { Readiness } from './readiness.js';
import { SinkStatuses, type SinkStatus } from './sink-statuses.js';

describe('the state of sinks', () => {
  it('is in the metrics, and degrades readiness when one is far behind or has given up events', async () => {
    const [metrics, readiness] = [new Metrics(), new Readiness()];
    const sinks = new SinkStatuses(metrics, readiness, 100);
    let status: SinkStatus = { sink: 'siem', lag: 100, parked: 1, dead: 0 };
    sinks.watch(() => [status]);
    expect(readiness.reasons()).toEqual([]);
    status = { sink: 'siem', lag: 101, parked: 2, dead: 3 };
    expect(readiness.reasons()).toEqual([
      { name: 'sink_lag', weight: 'degraded', detail: '1 sinks are more than 100 events behind', about: ['siem'] },
      {
        name: 'dead_letters',
        weight: 'degraded',
        detail: '3 events were given up and wait for a replay',
        about: ['siem'],
      },
    ]);
    const text = await metrics.text();
    expect(text).toContain('countersign_sink_lag_events{sink="siem"} 101');
    expect(text).toContain('countersign_sink_parked_events{sink="siem"} 2');
    expect(text).toContain('countersign_sink_dead_events{sink="siem"} 3');
  });
});
