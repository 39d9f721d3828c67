import type { NewEvent, StreamRef } from '../domain/events/envelope.js';
import type { TableName, TableRow } from './rows/tables.js';

/**
 * A unit is what must become true together. It is plain data: no functions, no network, no wasm, so the writer may be
 * another thread and another database may run it as one transaction. It is durable as a whole or it never was.
 */
export interface Unit {
  readonly unitId: string;
  readonly tenant: string;
  readonly lane: Lane;
  /** Checked first, in order; the first that does not hold names the failure. */
  readonly guards: readonly Guard[];
  /** In the order in which the events are to be read; a stream may appear more than once. */
  readonly appends: readonly Append[];
  readonly writes: readonly Write[];
  readonly counters: readonly CounterChange[];
}

/** Order in which waiting units are applied. `settle` is never refused; `admit` is what back-pressure refuses. */
export const LANES = ['settle', 'govern', 'admit'] as const;
export type Lane = (typeof LANES)[number];

export interface Append {
  readonly stream: StreamRef;
  /** The stream's version before this append; 0 for a new stream. */
  readonly expectedVersion: number;
  readonly events: readonly NewEvent[];
}

/** A value a column must have; `clock` compares an ISO 8601 column with the writer's clock at apply time. */
export type Expectation =
  | string
  | number
  | null
  | { readonly oneOf: readonly (string | number)[] }
  | { readonly clock: 'after_now' | 'not_after_now' };

/** A condition on one row. */
export interface Guard {
  /** Names the failure: `GuardFailed.guard`. */
  readonly name: string;
  readonly table: TableName;
  readonly where: Readonly<Record<string, Expectation>>;
  readonly expect: 'present' | 'absent';
}

export type Write = {
  [T in TableName]:
    | { readonly op: 'insert'; readonly table: T; readonly row: TableRow<T>; readonly takenGuard: string }
    | {
        /** Compare-and-set: no row with this key and these values means that the named guard failed. */
        readonly op: 'set';
        readonly table: T;
        readonly where: Readonly<Record<string, Expectation>>;
        readonly set: Partial<TableRow<T>>;
        readonly guard: string;
      }
    | { readonly op: 'put'; readonly table: T; readonly row: TableRow<T> } // insert or replace by primary key (operational tables only)
    | { readonly op: 'delete'; readonly table: T; readonly where: Readonly<Record<string, Expectation>> };
}[TableName];

/**
 * A conditional counter: fails with guard `counter:<key>` when the sum would exceed `max`. `add` may be negative: a counter
 * never goes below 0, and what is taken from one that is not there (any more) makes none.
 */
export interface CounterChange {
  readonly tenant: string;
  readonly key: string;
  readonly add: number;
  readonly max: number | null;
}

/** What a durable unit is known by. `positions` are those of its events, in order. */
export interface Committed {
  readonly unitId: string;
  readonly firstPosition: number;
  readonly eventCount: number;
  /** ISO 8601, the writer's clock. */
  readonly recordedAt: string;
}

/** A guard of the unit did not hold; nothing of the unit was written. */
export class GuardFailed extends Error {
  override readonly name = 'GuardFailed';
  constructor(readonly guard: string) {
    super(`guard ${guard} failed`);
  }
}
