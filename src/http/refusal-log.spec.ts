import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/builders/manual-clock.js';
import { SilentLogger, type LogFields } from '../system/logger.js';
import { Metrics } from '../system/metrics/metrics.js';
import { RefusalLog } from './refusal-log.js';

class KeptLines extends SilentLogger {
  readonly lines: (LogFields | undefined)[] = [];

  override warn(_message?: string, fields?: LogFields): void {
    this.lines.push(fields);
  }
}

describe('refusals of strangers', () => {
  it('are all counted, and logged at most every ten seconds with their number', async () => {
    const [clock, logger, metrics] = [new ManualClock('2031-01-01T00:00:00Z'), new KeptLines(), new Metrics()];
    const refusals = new RefusalLog(clock, logger, metrics);
    for (let n = 0; n < 1000; n += 1) refusals.note('/v1/tool-calls');
    clock.advance(10_000);
    refusals.note(null);
    expect(logger.lines).toEqual([
      { count: 1, route: '/v1/tool-calls' },
      { count: 1000, route: null },
    ]);
    expect(await metrics.text()).toContain('countersign_http_unauthenticated_total 1001');
  });
});
