import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Seconds, for what takes from half a millisecond to a minute. */
const SECONDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

/** What a gauge shows for one combination of its labels. */
export interface Sample<L extends string> {
  readonly labels: Readonly<Record<L, string>>;
  readonly value: number;
}

/**
 * Everything this process counts, in the text format of Prometheus. Names begin with `countersign_` and end in their
 * unit; labels are words of ours, names from the registry of capabilities and names from the settings: never a tenant,
 * a person, an id or anything else that a caller chooses.
 */
export class Metrics {
  private readonly registry = new Registry();

  readonly contentType = this.registry.contentType;

  /** A number that only grows. `name` ends in `_total`. */
  counter<L extends string = never>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ name, help, labelNames, registers: [this.registry] });
  }

  /** How values are distributed; seconds unless other bounds (upper, inclusive, rising) are given. */
  histogram<L extends string = never>(
    name: string,
    help: string,
    labelNames: readonly L[] = [],
    bounds: readonly number[] = SECONDS,
  ): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets: [...bounds], registers: [this.registry] });
  }

  /**
   * What is true at this moment: asked anew by every scrape, so it must be cheap. One that is null, or that fails, is left
   * out of the scrape and takes no other with it.
   */
  gauge(name: string, help: string, read: () => number | null | Promise<number | null>): void {
    this.gauges(name, help, [], async () => {
      const value = await read();
      return value === null ? [] : [{ labels: {}, value }];
    });
  }

  /** The same, with a value for each combination of labels. */
  gauges<L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    read: () => readonly Sample<L>[] | Promise<readonly Sample<L>[]>,
  ): void {
    const collect = async (): Promise<void> => {
      const samples = await Promise.resolve()
        .then(read)
        .catch(() => []);
      gauge.reset();
      // Without labels it would be 0 after a reset, which is a claim.
      gauge.remove({});
      for (const { labels, value } of samples) gauge.set(labels, value);
    };
    const gauge = new Gauge<L>({ name, help, labelNames, registers: [this.registry], collect });
  }

  /** Memory, CPU, garbage collection, event-loop lag and handles of the process, under their usual names. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }
}
