/** The store cannot be trusted to write any more: the batch was not recorded, and nothing after it will be. */
export class StoreBroken extends Error {
  override readonly name = 'StoreBroken';

  /** `mayRecover`: the disk was full, the transaction is rolled back for certain, and the store may write again when there is space. */
  constructor(
    message: string,
    options?: ErrorOptions,
    readonly mayRecover = false,
  ) {
    super(message, options);
  }
}

/** Another process has taken over: nothing of the batch was written, and nothing of this process ever will be. */
export class StoreTakenOver extends StoreBroken {
  constructor() {
    super('another process has taken over this data directory');
  }
}

/** Another process holds the database; nothing of the batch was written and it may be given again. */
export class StoreBusy extends Error {
  override readonly name = 'StoreBusy';
}

/** Result codes after which nobody knows what the file holds, or after which SQLite has ended the transaction by itself. */
const FATAL =
  /^SQLITE_(FULL|IOERR|CORRUPT|NOTADB|NOMEM|READONLY|CANTOPEN|PROTOCOL|INTERNAL|MISUSE|PERM|NOLFS|AUTH|INTERRUPT|BUSY|LOCKED)/;

/** SQLite's own result code, or null. By its form: the driver's class differs between the realms that have loaded it. */
export function sqliteCode(error: unknown): string | null {
  const { name, code } = (error ?? {}) as { readonly name?: unknown; readonly code?: unknown };
  return name === 'SqliteError' && typeof code === 'string' ? code : null;
}

/** True when the transaction, and not only the unit that met the error, is lost. */
export function isFatal(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && FATAL.test(code);
}

export function isUniqueConflict(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}
