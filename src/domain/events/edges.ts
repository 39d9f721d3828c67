/** One row of a transition table: what the status is after an event, for each status in which it may come. */
export type Edges<S extends string> = Readonly<Partial<Record<S | 'none', S>>>;

/** The event leads from each of these statuses to `next`; `none` is before the first event. */
export function to<S extends string>(next: S, ...froms: readonly (S | 'none')[]): Edges<S> {
  return Object.fromEntries(froms.map((from) => [from, next])) as Edges<S>;
}

/** The event is recorded in each of these statuses and changes none of them. */
export function stay<S extends string>(...statuses: readonly S[]): Edges<S> {
  return Object.fromEntries(statuses.map((status) => [status, status])) as Edges<S>;
}

/** A tuple with one item for each item of `T`: a row as wide as its columns. */
export type PerItem<T extends readonly unknown[], V> = { readonly [K in keyof T]: V };
