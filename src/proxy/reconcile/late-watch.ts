import { Injectable } from '@nestjs/common';
import { Metrics } from '../../system/metrics/metrics.js';
import { Readiness } from '../../system/readiness.js';
import { LateResults } from './late-results.worker.js';

/** Says in readiness and metrics how many calls ended otherwise than later evidence says: people have to look at them. */
@Injectable()
export class LateWatch {
  constructor(late: LateResults, readiness: Readiness, metrics: Metrics) {
    readiness.watch(() => {
      const calls = late.contradictedCalls;
      if (calls === 0) return [];
      const detail = `${calls} ended otherwise than later evidence says; GET /v1/tool-calls?status=contradicted lists them`;
      return [{ name: 'contradicted_calls', weight: 'degraded', detail }];
    });
    metrics.gauge(
      'countersign_contradicted_calls',
      'Calls that ended otherwise than later evidence says.',
      () => late.contradictedCalls,
    );
  }
}
