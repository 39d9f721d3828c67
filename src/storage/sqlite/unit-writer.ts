import type { Database, Statement } from 'better-sqlite3';
import { reached } from '../../system/crash-points.js';
import type { RandomSource } from '../../system/random-source.js';
import { SQLITE_DIALECT } from '../dialect.js';
import type { KeyRing } from '../key-ring.js';
import { DELETABLE_TABLES, REPLACEABLE_TABLES } from '../rows/table-rules.js';
import type { TableName } from '../rows/tables.js';
import type { InstanceRef } from '../store.js';
import { GuardFailed } from '../unit.js';
import type { Committed, CounterChange, Unit, Write } from '../unit.js';
import { DataKeys } from './data-keys.js';
import { EventWriter } from './event-writer.js';
import { assertTable } from './sql-values.js';
import { Statements } from './statements.js';
import type { LeafLog } from './tree-keeper.js';
import { StoreBroken, StoreBusy, StoreTakenOver, isFatal, isUniqueConflict, sqliteCode } from './write-failure.js';

/** A fact of `meta` that says nothing; big enough that a store does not take up work for one more transaction. */
const PROBE = 'storage/probe';
const PROBE_BYTES = 512 * 1024;

export type UnitResult =
  | { readonly outcome: 'committed'; readonly committed: Committed }
  /** This guard did not hold; nothing of the unit was written. */
  | { readonly outcome: 'guard'; readonly guard: string }
  /** The unit is impossible whoever else writes: a defect of its maker. Nothing of it was written. */
  | { readonly outcome: 'refused'; readonly message: string };

export interface UnitWriterOptions {
  readonly keyRing: KeyRing;
  /** Milliseconds since 1970: the clock that guards and `recordedAt` go by. */
  readonly now: () => number;
  readonly random: RandomSource;
  /** Goes into every envelope: which versions of program, policy and schemas were in force. */
  readonly versionSetId: string;
  /** Told of every leaf that is written. */
  readonly leaves?: LeafLog;
}

/**
 * The only writer of a SQLite store. `apply` makes many units one transaction with a savepoint each, so that they share one flush and
 * one that fails takes nobody along. The connection must have `synchronous` FULL: when `apply` returns, its units are on disk.
 */
export class UnitWriter {
  private readonly statements: Statements;
  private readonly dataKeys: DataKeys;
  private readonly events: EventWriter;
  private readonly control: Readonly<
    Record<'begin' | 'commit' | 'savepoint' | 'release' | 'rollbackTo', Statement<[]>>
  >;
  private broken: StoreBroken | null = null;
  /** Whether this process still owns the database; null: nobody has said whose it is. */
  private isOwned: (() => boolean) | null = null;

  constructor(
    private readonly database: Database,
    private readonly options: UnitWriterOptions,
  ) {
    const dialect = SQLITE_DIALECT;
    this.statements = new Statements(database, dialect);
    this.dataKeys = new DataKeys(database, options.keyRing, options.random);
    this.events = new EventWriter(database, dialect, this.dataKeys, options.random, options.versionSetId);
    this.events.leaves = options.leaves ?? null;
    this.events.readHead();
    this.control = {
      begin: database.prepare<[]>(dialect.begin),
      commit: database.prepare<[]>(dialect.commit),
      savepoint: database.prepare<[]>(dialect.savepoint),
      release: database.prepare<[]>(dialect.releaseSavepoint),
      rollbackTo: database.prepare<[]>(dialect.rollbackToSavepoint),
    };
  }

  /** How many positions are given: the next event gets this one. */
  get head(): number {
    return this.events.nextPosition;
  }

  /** Every batch from here on belongs to this process, and counts only while the database says the same. */
  own({ instanceId, epoch }: InstanceRef): void {
    const sql = `SELECT 1 FROM instances WHERE instance_id = ? AND epoch = ? AND state = 'running'`;
    const statement = this.database.prepare<[string, number]>(sql);
    this.isOwned = () => statement.get(instanceId, epoch) !== undefined;
  }

  /** False once another process has taken over: what is in the database is then no longer this one's to vouch for. */
  get isOwner(): boolean {
    return this.isOwned?.() !== false;
  }

  /**
   * One result per unit, in order; those that are `committed` are durable. Throws `StoreBusy` when another process kept the
   * database locked (nothing was written, try again), and `StoreBroken` when the transaction failed as a whole: no unit of it
   * counts, the flush is not tried again, and every later call throws the same. `StoreTakenOver`, a `StoreBroken`: another process
   * owns the database now.
   */
  apply(units: readonly Unit[]): UnitResult[] {
    if (this.broken !== null) throw this.broken;
    this.begin();
    try {
      this.assertOwned();
      this.events.readHead();
      const results = units.map((unit) => this.applyUnit(unit));
      reached('storage.before-commit', units);
      this.control.commit.run();
      reached('storage.after-commit', units);
      return results;
    } catch (error) {
      throw this.breakDown(error);
    }
  }

  /**
   * Looks whether a disk that was full has space again, by writing something of its own durably; what was refused is not tried
   * again. Answers the head. Throws `StoreBroken` while there is none, and for ever after a failure of any other kind: nobody knows
   * then what a failed flush has left on the disk.
   */
  recover(): number {
    if (this.broken === null) return this.head;
    if (!this.broken.mayRecover) throw this.broken;
    try {
      for (const value of ['x'.repeat(PROBE_BYTES), '']) {
        this.control.begin.run();
        this.assertOwned();
        this.statements.put('meta', { name: PROBE, value });
        this.control.commit.run();
      }
    } catch (error) {
      // Somebody else writes just now: that says nothing about the disk, and the next look is as good.
      if (isBusy(error) && !this.database.inTransaction) throw this.broken;
      throw this.breakDown(error);
    }
    this.broken = null;
    this.events.readHead();
    return this.head;
  }

  /** Inside the transaction, so that nobody can take over between this and the commit. */
  private assertOwned(): void {
    if (!this.isOwner) throw new StoreTakenOver();
  }

  private begin(): void {
    try {
      this.control.begin.run();
    } catch (error) {
      if (isBusy(error)) throw new StoreBusy('another process holds the database');
      throw this.breakDown(error);
    }
  }

  private breakDown(error: unknown): StoreBroken {
    let mayRecover = sqliteCode(error) === 'SQLITE_FULL';
    this.dataKeys.transactionRolledBack();
    try {
      if (this.database.inTransaction) this.database.exec(SQLITE_DIALECT.rollback);
    } catch {
      // What failed to roll back is rolled back when the file is opened again: its commit was never written.
      mayRecover = false;
    }
    const why = `the store has failed to write: ${sqliteCode(error) ?? textOf(error)}`;
    this.broken = error instanceof StoreTakenOver ? error : new StoreBroken(why, { cause: error }, mayRecover);
    return this.broken;
  }

  private applyUnit(unit: Unit): UnitResult {
    const firstPosition = this.events.nextPosition;
    this.dataKeys.unitBegins();
    this.control.savepoint.run();
    try {
      const committed = this.write(unit, firstPosition);
      this.control.release.run();
      reached('storage.unit-written', unit);
      return { outcome: 'committed', committed };
    } catch (error) {
      if (isFatal(error) || !this.database.inTransaction) throw error;
      this.control.rollbackTo.run();
      this.control.release.run();
      this.events.rewind(firstPosition);
      this.dataKeys.unitRolledBack();
      return error instanceof GuardFailed
        ? { outcome: 'guard', guard: error.guard }
        : { outcome: 'refused', message: textOf(error) };
    }
  }

  private write(unit: Unit, firstPosition: number): Committed {
    const nowMs = this.options.now();
    const recordedAt = new Date(nowMs).toISOString();
    for (const guard of unit.guards) {
      assertTable(guard.table);
      const present = this.statements.exists(guard.table, guard.where, recordedAt);
      if (present !== (guard.expect === 'present')) throw new GuardFailed(guard.name);
    }
    const unitSize = unit.appends.reduce((size, append) => size + append.events.length, 0);
    this.events.write({ unit, unitSize, nowMs, recordedAt });
    for (const write of unit.writes) this.writeRow(write, recordedAt);
    for (const change of unit.counters) this.count(change);
    return { unitId: unit.unitId, firstPosition, eventCount: unitSize, recordedAt };
  }

  private writeRow(write: Write, now: string): void {
    assertTable(write.table);
    switch (write.op) {
      case 'insert':
        guarded(write.takenGuard, () => this.statements.insert(write.table, write.row));
        return;
      case 'set':
        guarded(write.guard, () => {
          const changed = this.statements.update(write.table, write.set, write.where, now);
          if (changed === 0) throw new GuardFailed(write.guard);
          if (changed > 1) throw new Error(`a compare-and-set on ${write.table} met ${changed} rows`);
        });
        return;
      case 'put':
        assertOneOf(REPLACEABLE_TABLES, write.table, 'replaced');
        this.statements.put(write.table, write.row);
        return;
      case 'delete':
        assertOneOf(DELETABLE_TABLES, write.table, 'deleted');
        this.statements.delete(write.table, write.where, now);
        return;
    }
  }

  private count({ tenant, key, add, max }: CounterChange): void {
    const counted = this.statements.counter(tenant, key);
    if (counted === null && add < 0) return;
    const value = Math.max(0, (counted ?? 0) + add);
    if (max !== null && value > max) throw new GuardFailed(`counter:${key}`);
    this.statements.put('counters', { tenant, counter_key: key, value });
  }
}

/** A row whose place is taken is the named guard's failure. */
function guarded(guard: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw isUniqueConflict(error) ? new GuardFailed(guard) : error;
  }
}

function assertOneOf(tables: ReadonlySet<TableName>, table: TableName, done: string): void {
  if (!tables.has(table)) throw new Error(`rows of ${table} are never ${done}`);
}

const isBusy = (error: unknown): boolean => sqliteCode(error)?.startsWith('SQLITE_BUSY') === true;

const textOf = (error: unknown): string => (error instanceof Error ? error.message : 'something that is no error');
