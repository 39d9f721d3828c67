/** What Prometheus gets for one combination of labels. */
export interface Sample {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly value: number;
  /** Where it differs from the metric's own name: `_bucket`, `_sum` and `_count` of a histogram. */
  readonly metricName?: string;
}

/**
 * A number that only grows. Instruments of the hot path are plain numbers, found once by their labels and then kept:
 * adding takes nanoseconds, and names and labels are put to them only when somebody reads.
 */
export class Count {
  value = 0;

  add(by = 1): void {
    this.value += by;
  }
}

/** How often values fell below each bound, with their sum. */
export class Distribution {
  private readonly counts: Float64Array;
  private sum = 0;

  /** `bounds`: upper bounds, inclusive, rising. */
  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    const { bounds } = this;
    let index = 0;
    while (index < bounds.length && value > (bounds[index] as number)) index += 1;
    this.counts[index] = (this.counts[index] as number) + 1;
    this.sum += value;
  }

  samples(name: string, labels: Readonly<Record<string, string>>): readonly Sample[] {
    let total = 0;
    const buckets = Array.from(this.counts, (count, index) => {
      total += count;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: this.bounds[index] ?? '+Inf' }, value: total };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.sum },
      { metricName: `${name}_count`, labels, value: total },
    ];
  }
}

/** Instruments of one name, one for each combination of label values that has come up. */
export class Family<I> {
  private readonly byLabels = new Map<string, { readonly values: readonly string[]; readonly instrument: I }>();

  constructor(
    private readonly labelNames: readonly string[],
    private readonly create: () => I,
  ) {}

  /** The instrument for these label values, in the order of the names. Look it up once and keep it where speed counts. */
  with(...values: readonly string[]): I {
    const key = values.join('\u0000');
    const known = this.byLabels.get(key);
    if (known !== undefined) return known.instrument;
    const instrument = this.create();
    this.byLabels.set(key, { values, instrument });
    return instrument;
  }

  map<R>(read: (instrument: I, labels: Readonly<Record<string, string>>) => R): R[] {
    return [...this.byLabels.values()].map(({ values, instrument }) =>
      read(instrument, Object.fromEntries(this.labelNames.map((name, index) => [name, values[index] ?? '']))),
    );
  }
}
