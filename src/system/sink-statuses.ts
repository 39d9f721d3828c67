import type { Metrics } from './metrics/metrics.js';
import type { Readiness } from './readiness.js';

/** How far one sink of the outbox has come. */
export interface SinkStatus {
  /** The sink's name in the settings. */
  readonly sink: string;
  /** Committed events it has not been given yet. */
  readonly lag: number;
  /** Events that it refused and that will be tried again, with those that wait behind them. */
  readonly parked: number;
  /** Events that were given up and wait for a replay. */
  readonly dead: number;
}

/** Where whoever delivers events says how it goes: read by `/metrics` and `/readyz`, from memory. */
export class SinkStatuses {
  private readonly reads: (() => readonly SinkStatus[])[] = [];

  /** `lagMax`: events behind which a sink degrades readiness. */
  constructor(metrics: Metrics, readiness: Readiness, lagMax: number) {
    const gauge = (name: string, help: string, valueOf: (status: SinkStatus) => number): void =>
      metrics.gauge(name, help, () =>
        this.list().map((status) => ({ labels: { sink: status.sink }, value: valueOf(status) })),
      );
    gauge('countersign_sink_lag_events', 'Committed events a sink has not been given yet.', ({ lag }) => lag);
    gauge('countersign_sink_parked_events', 'Events a sink refused that will be tried again.', ({ parked }) => parked);
    gauge('countersign_sink_dead_events', 'Events that were given up and wait for a replay.', ({ dead }) => dead);
    readiness.watch(() => {
      const late = this.list().filter(({ lag }) => lag > lagMax);
      if (late.length === 0) return [];
      const detail = `${late.length} sinks are more than ${lagMax} events behind`;
      return [{ name: 'sink_lag', weight: 'degraded', detail, about: late.map(({ sink }) => sink) }];
    });
    readiness.watch(() => {
      const withDead = this.list().filter(({ dead }) => dead > 0);
      if (withDead.length === 0) return [];
      const count = withDead.reduce((sum, { dead }) => sum + dead, 0);
      const detail = `${count} events were given up and wait for a replay`;
      return [{ name: 'dead_letters', weight: 'degraded', detail, about: withDead.map(({ sink }) => sink) }];
    });
  }

  /** Called by every scrape and every look at readiness. */
  watch(read: () => readonly SinkStatus[]): void {
    this.reads.push(read);
  }

  list(): readonly SinkStatus[] {
    return this.reads.flatMap((read) => read());
  }
}
