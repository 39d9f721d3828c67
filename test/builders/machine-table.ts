import type { DomainEvent } from '../../src/domain/events/catalogue.js';
import type { Decided } from '../../src/domain/events/decided.js';

/**
 * Holds a pure machine against its tables: every row (a command with one kind of content) in every column (a
 * situation), with the examples of that situation. Specs compare what comes out with the tables themselves.
 */
export interface Machine<S extends { readonly status: string }, C> {
  readonly decide: (state: S | null, command: C) => Decided;
  readonly evolve: (state: S | null, event: DomainEvent) => S;
  readonly columns: readonly string[];
  readonly examplesOf: (column: string) => readonly (S | null)[];
}

/** A command for one row, and what must be true of the state besides its column. */
export interface Trial<S, C> {
  readonly command: (state: S | null) => C;
  readonly given?: (state: S) => S;
}

export interface TrialRow<S, C> {
  readonly kind: string;
  readonly variant: string;
  readonly trial: Trial<S, C>;
}

/** The rows of `{kind: {variant: trial}}`, in order. */
export function rowsOf<S, C>(
  trials: Readonly<Record<string, Readonly<Record<string, Trial<S, C>>>>>,
): readonly TrialRow<S, C>[] {
  return Object.entries(trials).flatMap(([kind, variants]) =>
    Object.entries(variants).map(([variant, trial]) => ({ kind, variant, trial })),
  );
}

/** The line that a table of `{kind: {variant: answers}}` has for a row. */
export function lineOf(
  table: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>,
  row: { readonly kind: string; readonly variant: string },
): readonly string[] {
  return table[row.kind]?.[row.variant] ?? [];
}

/** What the code answers in each column. Examples of one column that are answered differently show as `a | b`. */
export function answersOf<S extends { readonly status: string }, C>(
  machine: Machine<S, C>,
  row: TrialRow<S, C>,
): readonly string[] {
  return machine.columns.map((column) => {
    const answers = tried(machine, row, column).map(({ decided }) => (decided.ok ? 'allowed' : decided.code));
    return [...new Set(answers)].join(' | ');
  });
}

/** Every edge that the commands take and the fold follows, as `from --event--> to`, sorted. */
export function edgesTaken<S extends { readonly status: string }, C>(
  machine: Machine<S, C>,
  rows: readonly TrialRow<S, C>[],
): readonly string[] {
  const taken = new Set<string>();
  for (const row of rows) {
    for (const column of machine.columns) {
      for (const { state, decided } of tried(machine, row, column)) {
        let now = state;
        for (const event of decided.ok ? decided.events : []) {
          const next: S = machine.evolve(now, event);
          taken.add(`${now?.status ?? 'none'} --${event.type}--> ${next.status}`);
          now = next;
        }
      }
    }
  }
  return [...taken].sort();
}

/** The edges of a table, in the same words. */
export function edgesOf(table: Readonly<Record<string, Readonly<Partial<Record<string, string>>>>>): readonly string[] {
  return Object.entries(table)
    .flatMap(([type, row]) => Object.entries(row).map(([from, next]) => `${from} --${type}--> ${next}`))
    .sort();
}

function tried<S extends { readonly status: string }, C>(
  machine: Machine<S, C>,
  row: TrialRow<S, C>,
  column: string,
): { readonly state: S | null; readonly decided: Decided }[] {
  return machine.examplesOf(column).map((example) => {
    const state = example === null ? null : (row.trial.given?.(example) ?? example);
    return { state, decided: machine.decide(state, row.trial.command(state)) };
  });
}
