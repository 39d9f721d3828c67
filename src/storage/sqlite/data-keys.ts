import type { Database, Statement } from 'better-sqlite3';
import { ID_PREFIXES, ID_RANDOM_BYTES, newId } from '../../domain/ids/ids.js';
import type { RandomSource } from '../../system/random-source.js';
import type { DataKeyRow } from '../data-key.js';
import { dataKeyContext } from '../data-key.js';
import type { KeyRing } from '../key-ring.js';
import { DATA_KEY_BYTES } from '../sealing.js';

export interface DataKey {
  readonly dataKeyId: string;
  readonly key: Uint8Array;
}

/** Keys of scopes that wrote lately, in memory; an older one is unwrapped again. */
const KEYS_MAX = 10_000;

/**
 * The writer's keys: one per scope, made in the unit that first needs it. A key whose unit or transaction is rolled back is
 * forgotten, because no row holds it: sealing with it would be erasing.
 */
export class DataKeys {
  private readonly keys = new Map<string, DataKey>();
  private readonly madeInUnit: string[] = [];
  private readonly find: Statement<[string]>;
  private readonly add: Statement<[string, string, Uint8Array, string, string]>;

  constructor(
    database: Database,
    private readonly keyRing: KeyRing,
    private readonly random: RandomSource,
  ) {
    this.find = database.prepare<[string]>('SELECT data_key_id, scope, wrapped, kek_id FROM data_keys WHERE scope = ?');
    this.add = database.prepare<[string, string, Uint8Array, string, string]>(
      'INSERT INTO data_keys (data_key_id, scope, wrapped, kek_id, created_at) VALUES (?, ?, ?, ?, ?)',
    );
  }

  /** The key of the scope; made and written when there is none. `nowMs` is the time of the unit. */
  of(scope: string, nowMs: number): DataKey {
    const known = this.keys.get(scope);
    if (known !== undefined) return known;
    const row = this.find.get(scope) as DataKeyRow | undefined;
    const found = row === undefined ? this.make(scope, nowMs) : this.unwrap(row);
    if (this.keys.size >= KEYS_MAX) this.forgetOldest();
    this.keys.set(scope, found);
    return found;
  }

  unitBegins(): void {
    this.madeInUnit.length = 0;
  }

  unitRolledBack(): void {
    for (const scope of this.madeInUnit) this.keys.delete(scope);
    this.madeInUnit.length = 0;
  }

  transactionRolledBack(): void {
    this.keys.clear();
    this.madeInUnit.length = 0;
  }

  private make(scope: string, nowMs: number): DataKey {
    const dataKeyId = newId(ID_PREFIXES.dataKey, nowMs, this.random.bytes(ID_RANDOM_BYTES));
    const key = this.random.bytes(DATA_KEY_BYTES);
    const wrapped = this.keyRing.wrap(key, dataKeyContext(dataKeyId, scope));
    this.add.run(dataKeyId, scope, wrapped, this.keyRing.currentId, new Date(nowMs).toISOString());
    this.madeInUnit.push(scope);
    return { dataKeyId, key };
  }

  private unwrap(row: DataKeyRow): DataKey {
    const key = this.keyRing.unwrap(row.kek_id, row.wrapped, dataKeyContext(row.data_key_id, row.scope));
    return { dataKeyId: row.data_key_id, key };
  }

  private forgetOldest(): void {
    for (const scope of this.keys.keys()) {
      this.keys.delete(scope);
      return;
    }
  }
}
