import type { DataKeyRow } from '../data-key.js';
import { dataKeyContext } from '../data-key.js';
import type { KeyRing } from '../key-ring.js';
import type { ReadConnection } from '../read-connection.js';

const KEYS_MAX = 4_000;

/** The key of a payload has been destroyed: what it sealed is erased, and its commitment still verifies. */
export class PayloadKeyGone extends Error {
  override readonly name = 'PayloadKeyGone';
}

/** Data keys that were unwrapped lately; the least recently used goes first. */
export class OpenedKeys {
  private readonly keys = new Map<string, Uint8Array>();

  constructor(
    private readonly connection: ReadConnection,
    private readonly keyRing: KeyRing,
    private readonly keysMax: number = KEYS_MAX,
  ) {}

  /** Throws `PayloadKeyGone` when there is no such key, a plain `Error` when it does not unwrap. */
  async key(dataKeyId: string): Promise<Uint8Array> {
    const known = this.keys.get(dataKeyId);
    if (known !== undefined) {
      this.keys.delete(dataKeyId);
      this.keys.set(dataKeyId, known);
      return known;
    }
    const key = await this.unwrap(dataKeyId);
    for (const oldest of this.keys.keys()) {
      if (this.keys.size < this.keysMax) break;
      this.keys.delete(oldest);
    }
    this.keys.set(dataKeyId, key);
    return key;
  }

  private async unwrap(dataKeyId: string): Promise<Uint8Array> {
    const row = await this.connection.one<DataKeyRow>(
      'SELECT data_key_id, scope, wrapped, kek_id FROM data_keys WHERE data_key_id = ?',
      dataKeyId,
    );
    if (row === null) throw new PayloadKeyGone('the key of a payload is gone');
    return this.keyRing.unwrap(row.kek_id, row.wrapped, dataKeyContext(row.data_key_id, row.scope));
  }
}
