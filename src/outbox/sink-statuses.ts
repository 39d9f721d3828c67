import type { Settings } from '../config/settings.js';
import type { Metrics } from '../system/metrics/metrics.js';
import type { Readiness, ReadinessName } from '../system/readiness.js';
import type { OutboxRelay } from './outbox-relay.js';
import type { SinkStatus } from './sink-worker.js';

/** How the sinks of this process are doing, from memory: every scrape and every look at readiness reads it. */
export class SinkStatuses {
  constructor(
    private readonly relay: Pick<OutboxRelay, 'statuses'>,
    private readonly settings: Pick<Settings, 'outbox'>,
  ) {}

  list(): readonly SinkStatus[] {
    return this.relay.statuses();
  }

  measuredBy(metrics: Metrics): void {
    const gauge = (name: string, help: string, valueOf: (status: SinkStatus) => number): void =>
      metrics.gauges(name, help, ['sink'], () =>
        this.list().map((status) => ({ labels: { sink: status.name }, value: valueOf(status) })),
      );
    gauge('countersign_sink_lag_events', 'Committed events a sink has not been given yet.', (one) => one.lagPositions);
    gauge('countersign_sink_lag_seconds', 'How long the oldest of them waits.', ({ lagMs }) => lagMs / 1000);
    gauge('countersign_sink_parked_events', 'Events a sink refused that will be tried again.', ({ parked }) => parked);
    gauge('countersign_sink_dead_events', 'Events that were given up and wait for a replay.', ({ dead }) => dead);
  }

  watchedBy(readiness: Readiness): void {
    const { lagMsMax } = this.settings.outbox;
    const watch = (name: ReadinessName, isSo: (status: SinkStatus) => boolean, what: string): void =>
      readiness.watch(() => {
        const found = this.list().filter(isSo);
        if (found.length === 0) return [];
        const about = found.map((status) => status.name);
        return [{ name, weight: 'degraded', detail: `${found.length} sinks ${what}`, about }];
      });
    watch('sink_lag', ({ lagMs }) => lagMs > lagMsMax, `are more than ${lagMsMax} ms behind`);
    watch('sink_gone', ({ isGone }) => isGone, 'said that they are gone for good');
    watch('dead_letters', ({ dead }) => dead > 0, 'have events that were given up and wait for a replay');
  }
}
