import type { KeyRing } from '../storage/key-ring.js';
import type { StoreReader } from '../storage/readers/store-reader.js';
import type { TableRow } from '../storage/rows/tables.js';
import { INSTALLATION } from '../storage/units/unit-desk.js';
import { openSecret } from './secret-envelope.js';
import { SecretRef } from './secret-ref.js';

/** One version of a secret as it may be shown. */
export type SecretVersion = Pick<TableRow<'secrets'>, 'name' | 'version' | 'kek_id' | 'created_at' | 'retired_at'>;

/** The secrets of the store, in memory: read at the start and after each change. */
export class StoredSecrets {
  private refs: readonly SecretRef[] = [];
  private readonly listeners: (() => void)[] = [];

  private constructor(
    private readonly read: Pick<StoreReader, 'secrets'>,
    private readonly keyRing: KeyRing,
  ) {}

  /** Rejects with a plain `Error` when a secret does not open. */
  static async load(read: Pick<StoreReader, 'secrets'>, keyRing: KeyRing): Promise<StoredSecrets> {
    const stored = new StoredSecrets(read, keyRing);
    await stored.reload();
    return stored;
  }

  async reload(): Promise<void> {
    const rows = await this.read.secrets(INSTALLATION);
    this.refs = rows.flatMap((row) => {
      const value = openSecret(this.keyRing, row);
      return value === null ? [] : [new SecretRef(row.name, row.version, value)];
    });
    for (const tell of this.listeners) tell();
  }

  /** Called after each change, when `find` already answers by it. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** This version, or without one the newest that is not retired. */
  find(name: string, version: number | null): SecretRef | null {
    const versions = this.refs.filter((ref) => ref.name === name && (version === null || ref.version === version));
    return versions.at(-1) ?? null;
  }

  async list(): Promise<readonly SecretVersion[]> {
    const rows = await this.read.secrets(INSTALLATION);
    return rows.map(({ name, version, kek_id, created_at, retired_at }) => ({
      name,
      version,
      kek_id,
      created_at,
      retired_at,
    }));
  }
}
