import { describe, expect, it } from '@jest/globals';
import { Metrics } from './metrics.js';

describe('metrics', () => {
  it('are the text format of Prometheus, with escaped labels and cumulative buckets', async () => {
    const metrics = new Metrics();
    const calls = metrics.counter('demo_calls_total', 'Calls.', ['capability', 'status']);
    calls.inc({ capability: 'a.b', status: 'completed' });
    calls.inc({ capability: 'a.b', status: 'completed' }, 2);
    calls.inc({ capability: 'odd"name\n', status: 'failed' });
    const times = metrics.histogram('demo_seconds', 'Times.', ['lane'], [0.1, 1]).labels('settle');
    for (const seconds of [0.1, 0.5, 1, 7]) times.observe(seconds);
    metrics.gauge('demo_depth', 'Depth.', () => 4);
    expect(await metrics.text()).toBe(
      [
        '# HELP demo_calls_total Calls.',
        '# TYPE demo_calls_total counter',
        'demo_calls_total{capability="a.b",status="completed"} 3',
        'demo_calls_total{capability="odd\\"name\\n",status="failed"} 1',
        '',
        '# HELP demo_seconds Times.',
        '# TYPE demo_seconds histogram',
        'demo_seconds_bucket{le="0.1",lane="settle"} 1',
        'demo_seconds_bucket{le="1",lane="settle"} 3',
        'demo_seconds_bucket{le="+Inf",lane="settle"} 4',
        'demo_seconds_sum{lane="settle"} 8.6',
        'demo_seconds_count{lane="settle"} 4',
        '',
        '# HELP demo_depth Depth.',
        '# TYPE demo_depth gauge',
        'demo_depth 4',
        '',
      ].join('\n'),
    );
  });

  it('leave out a gauge that cannot be read or has no value, and nothing else', async () => {
    const metrics = new Metrics();
    metrics.gauge('demo_broken', 'Broken.', () => Promise.reject(new Error('the store is closed')));
    metrics.gauge('demo_unknown', 'Unknown.', () => null);
    metrics.gauges('demo_good', 'Good.', ['sink'], () => Promise.resolve([{ labels: { sink: 'a' }, value: 1 }]));
    const text = await metrics.text();
    expect(text).toContain('demo_good{sink="a"} 1');
    expect(text).not.toMatch(/^demo_(broken|unknown)/m);
  });
});
