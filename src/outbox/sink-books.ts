import type { TableRow } from '../storage/rows/tables.js';
import type { Write } from '../storage/unit.js';
import type { UnitDesk } from '../storage/units/unit-desk.js';

/** What a sink is, as its row says. */
export interface SinkEntry {
  readonly sink: string;
  readonly kind: string;
  readonly from: 'now' | 'beginning';
  readonly types: ReadonlySet<string> | null;
}

/** Everything the tables say about a sink. */
export interface SinkRows {
  readonly row: TableRow<'sink_cursors'>;
  /** By position; when there are more than were asked for, the oldest. */
  readonly parked: readonly TableRow<'sink_parked'>[];
  /** Positions beyond the cursor that are parked or dead. */
  readonly beyond: readonly number[];
  readonly dead: number;
}

export type CursorChange = Partial<Omit<TableRow<'sink_cursors'>, 'sink' | 'owner_epoch'>>;

/**
 * The rows of one sink. Every write holds only while this instance runs and has relayed last: who was replaced can still
 * repeat a delivery, with the same id, and can change nothing here.
 */
export class SinkBooks {
  constructor(
    private readonly desk: UnitDesk,
    readonly sink: string,
  ) {}

  /** Takes the sink over, or begins its row. `head`: how many positions are durable. @throws GuardFailed when a newer instance relays. */
  async open({ kind, from, types }: SinkEntry, head: number): Promise<TableRow<'sink_cursors'>> {
    const list = types === null ? null : JSON.stringify([...types]);
    const mine = { kind, types: list, owner_epoch: this.desk.instance.epoch, updated_at: this.desk.now() };
    const row = await this.desk.read.sinkCursor(this.sink);
    if (row !== null) {
      const where = { sink: this.sink, owner_epoch: Math.min(row.owner_epoch, mine.owner_epoch) };
      await this.commit([{ op: 'set', table: 'sink_cursors', where, set: mine, guard: 'sink_owner' }]);
      return { ...row, ...mine };
    }
    const position = from === 'now' ? head - 1 : -1;
    const fresh: TableRow<'sink_cursors'> = {
      sink: this.sink,
      position,
      first_position: position + 1,
      replay_position: null,
      replay_to: null,
      last_error: null,
      failing_since: null,
      ...mine,
    };
    await this.commit([{ op: 'insert', table: 'sink_cursors', row: fresh, takenGuard: 'sink_owner' }]);
    return fresh;
  }

  /** Writes a change of the cursor and what is parked, as one. @throws GuardFailed when another instance relays. */
  async save(change: CursorChange, parked: readonly Write[]): Promise<void> {
    const where = { sink: this.sink, owner_epoch: this.desk.instance.epoch };
    const set = { ...change, updated_at: this.desk.now() };
    await this.commit([{ op: 'set', table: 'sink_cursors', where, set, guard: 'sink_owner' }, ...parked]);
  }

  async rows(parkedMax: number): Promise<SinkRows> {
    const { read } = this.desk;
    const row = await read.sinkCursor(this.sink);
    if (row === null) throw new Error('the row of a sink is gone');
    const [parked, beyond, { dead }] = await Promise.all([
      read.parkedDeliveries(this.sink, parkedMax),
      read.parkedBeyond(this.sink, row.position),
      read.sinkBacklog(this.sink),
    ]);
    return { row, parked, beyond, dead };
  }

  private async commit(writes: readonly Write[]): Promise<void> {
    const draft = this.desk.beginInstallation('outbox').guard(this.desk.ownerGuard());
    for (const write of writes) draft.write(write);
    await this.desk.commit(draft);
  }
}
