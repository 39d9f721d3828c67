/** A value that a statement of a reader may be given. */
export type ReadValue = string | number | null;

/**
 * Prepared statements on a connection that only reads. Asynchronous, so that another database fits; parameters are `?`, in order.
 * The SQL texts are constants of the readers, so each is prepared once.
 */
export interface ReadConnection {
  one<R>(sql: string, ...values: readonly ReadValue[]): Promise<R | null>;
  many<R>(sql: string, ...values: readonly ReadValue[]): Promise<readonly R[]>;
}
