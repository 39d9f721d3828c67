import Database from 'better-sqlite3';

// Money is kept in integer minor units; the CHECKs make an over-refund impossible even for a bug in the code above them.
const tables = `
  CREATE TABLE IF NOT EXISTS orders (
    order_id TEXT PRIMARY KEY,
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    refunded_minor INTEGER NOT NULL DEFAULT 0 CHECK (refunded_minor BETWEEN 0 AND amount_minor),
    currency TEXT NOT NULL,
    customer_name TEXT NOT NULL,
    customer_email TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT;
  CREATE TABLE IF NOT EXISTS refunds (
    seq INTEGER PRIMARY KEY,
    refund_id TEXT NOT NULL UNIQUE,
    order_id TEXT NOT NULL REFERENCES orders (order_id),
    amount_minor INTEGER NOT NULL CHECK (amount_minor > 0),
    currency TEXT NOT NULL,
    reason TEXT,
    idempotency_key TEXT,
    status TEXT NOT NULL CHECK (status IN ('pending', 'succeeded', 'failed')),
    created_at INTEGER NOT NULL,
    completed_at INTEGER,
    complete_at INTEGER,
    complete_as TEXT,
    callback_plan TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS refunds_by_key ON refunds (idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX IF NOT EXISTS refunds_by_order ON refunds (order_id);
  CREATE INDEX IF NOT EXISTS refunds_due ON refunds (complete_at) WHERE status = 'pending' AND complete_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS idempotency_keys (
    key TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    status INTEGER NOT NULL,
    answer TEXT NOT NULL,
    created_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS callbacks (
    seq INTEGER PRIMARY KEY,
    callback_id TEXT NOT NULL,
    refund_id TEXT NOT NULL REFERENCES refunds (refund_id),
    url TEXT,
    body TEXT NOT NULL,
    bad_signature INTEGER NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'due' CHECK (state IN ('due', 'delivered', 'given_up')),
    last_result TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS callbacks_due ON callbacks (next_at) WHERE state = 'due';
`;

/** Orders that exist from the first start on; all in EUR, amounts in cents. @type {ReadonlyArray<[string, number, string]>} */
const seededOrders = [
  ['ord_1001', 4_990, 'Ada Brandt'],
  ['ord_1002', 12_900, 'Bela Novak'],
  ['ord_1003', 2_500, 'Chiara Rossi'],
  ['ord_1004', 89_900, 'Dov Lindqvist'],
  ['ord_1005', 250_000, 'Elif Kaya'],
  ['ord_1006', 7_450, 'Farid Haddad'],
  ['ord_1007', 31_999, 'Greta Maier'],
  ['ord_1008', 1_200, 'Hugo Martins'],
  ['ord_1009', 149_500, 'Ines Keller'],
  ['ord_1010', 1_000_000, 'Jonas Weber'],
];

/**
 * Opens (and on first use creates and seeds) the provider's database.
 *
 * @param {string} file path of the SQLite file, or `:memory:`
 * @param {number} now milliseconds since the epoch
 */
export function openDatabase(file, now) {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = NORMAL');
  // Checkpoints are the only moments that wait for the disk; rarer ones keep it from setting the pace.
  db.pragma('wal_autocheckpoint = 8000');
  db.pragma('foreign_keys = ON');
  db.exec(tables);
  const seed = db.prepare(
    `INSERT OR IGNORE INTO orders (order_id, amount_minor, currency, customer_name, customer_email, created_at)
     VALUES (?, ?, 'EUR', ?, ?, ?)`,
  );
  db.transaction(() => {
    for (const [orderId, amountMinor, name] of seededOrders) {
      seed.run(orderId, amountMinor, name, `${name.toLowerCase().replace(' ', '.')}@example.com`, now);
    }
  })();
  return db;
}
