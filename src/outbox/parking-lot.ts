import type { TableRow } from '../storage/rows/tables.js';

/** A delivery that was put aside, as the relay knows it. */
export interface Parked {
  readonly position: number;
  readonly partition: string;
  readonly tries: number;
  readonly nextAtMs: number;
  readonly parkedAt: string;
  /** Offers since the process began, whether they counted or not: what the wait grows by. */
  readonly offers: number;
  /** How many deliveries the sink had taken when this one was last refused. */
  readonly takenBefore: number;
}

/** Partitions that are offered again in one round, and deliveries of each. */
const PARTITIONS_PER_ROUND = 8;
const PER_PARTITION = 16;

/** What is parked of one sink, in memory: bounded by whoever fills it. Within a partition everything waits for the oldest. */
export class ParkingLot {
  private readonly partitions = new Map<string, Parked[]>();
  private readonly positions = new Set<number>();

  /** Begins anew with what the table says. */
  load(rows: readonly TableRow<'sink_parked'>[]): void {
    const known = new Map([...this.partitions.values()].flat().map((parked) => [parked.position, parked]));
    this.partitions.clear();
    this.positions.clear();
    for (const row of rows) {
      const { offers = row.tries, takenBefore = 0 } = known.get(row.position) ?? {};
      this.put({
        position: row.position,
        partition: row.partition,
        tries: row.tries,
        nextAtMs: Date.parse(row.next_at),
        parkedAt: row.parked_at,
        offers,
        takenBefore,
      });
    }
  }

  get size(): number {
    return this.positions.size;
  }

  has(position: number): boolean {
    return this.positions.has(position);
  }

  get(position: number, partition: string): Parked | null {
    return this.partitions.get(partition)?.find((parked) => parked.position === position) ?? null;
  }

  /** Whether later deliveries of a partition must wait. */
  blocks(partition: string): boolean {
    return this.partitions.has(partition);
  }

  put(parked: Parked): void {
    const others = (this.partitions.get(parked.partition) ?? []).filter(({ position }) => position !== parked.position);
    const rows = [...others, parked].toSorted((left, right) => left.position - right.position);
    this.partitions.set(parked.partition, rows);
    this.positions.add(parked.position);
  }

  remove(position: number, partition: string): void {
    const rest = (this.partitions.get(partition) ?? []).filter((parked) => parked.position !== position);
    if (rest.length === 0) this.partitions.delete(partition);
    else this.partitions.set(partition, rest);
    this.positions.delete(position);
  }

  /** The beginnings of partitions whose oldest delivery is due, the longest due first. */
  due(nowMs: number): readonly Parked[] {
    return this.heads()
      .filter(({ nextAtMs }) => nextAtMs <= nowMs)
      .toSorted((left, right) => left.nextAtMs - right.nextAtMs)
      .slice(0, PARTITIONS_PER_ROUND)
      .flatMap(({ partition }) => (this.partitions.get(partition) ?? []).slice(0, PER_PARTITION));
  }

  /** When the next one is due; null when nothing is parked. */
  get nextDueMs(): number | null {
    const heads = this.heads();
    return heads.length === 0 ? null : Math.min(...heads.map(({ nextAtMs }) => nextAtMs));
  }

  /** ISO 8601; null when nothing is parked. */
  get oldestParkedAt(): string | null {
    return (
      this.heads()
        .map(({ parkedAt }) => parkedAt)
        .toSorted()[0] ?? null
    );
  }

  private heads(): readonly Parked[] {
    return [...this.partitions.values()].flatMap(([head]) => head ?? []);
  }
}
