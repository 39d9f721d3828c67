import { Registry, collectDefaultMetrics, type Metric } from 'prom-client';
import { Count, Distribution, Family, type Sample } from './instruments.js';

/** Seconds, for what takes from half a millisecond to a minute. */
const SECONDS: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
];

type Read = () => readonly Sample[] | Promise<readonly Sample[]>;

/**
 * Everything this process counts, in the text format of Prometheus. Names begin with `countersign_` and end in their
 * unit; labels are words of ours, names from the registry of capabilities and names from the settings: never a tenant,
 * a person, an id or anything else that a caller chooses.
 */
export class Metrics {
  private readonly registry = new Registry();

  readonly contentType = this.registry.contentType;

  /** A number that grows. `name` ends in `_total`. */
  count(name: string, help: string, labelNames: readonly string[] = []): Family<Count> {
    const family = new Family(labelNames, () => new Count());
    this.register(name, help, 'counter', () => family.map(({ value }, labels) => ({ labels, value })));
    return family;
  }

  /** How values are distributed; seconds unless other bounds are given. */
  distribution(
    name: string,
    help: string,
    labelNames: readonly string[] = [],
    bounds: readonly number[] = SECONDS,
  ): Family<Distribution> {
    const family = new Family(labelNames, () => new Distribution(bounds));
    this.register(name, help, 'histogram', () => family.map((each, labels) => each.samples(name, labels)).flat());
    return family;
  }

  /** What is true at this moment: asked anew by every scrape, so it must be cheap. One that fails is left out. */
  gauge(
    name: string,
    help: string,
    read: () => number | readonly Sample[] | Promise<number | readonly Sample[]>,
  ): void {
    this.register(name, help, 'gauge', async () => {
      const now = await read();
      return typeof now === 'number' ? [{ labels: {}, value: now }] : now;
    });
  }

  /** Memory, CPU, garbage collection, event-loop lag and handles of the process, under their usual names. */
  watchProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  private register(name: string, help: string, type: 'counter' | 'gauge' | 'histogram', read: Read): void {
    const get = async () => ({ name, help, type, aggregator: 'sum', values: await orNothing(read) });
    this.registry.registerMetric({ name, help, type, get } as unknown as Metric);
  }
}

/** One reader that fails must not take the others out of the scrape. */
async function orNothing(read: Read): Promise<readonly Sample[]> {
  try {
    return await read();
  } catch {
    return [];
  }
}
