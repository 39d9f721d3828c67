import type { Settings } from '../config/settings.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { Custody } from '../storage/custody.js';
import { INSTALLATION } from '../storage/units/unit-desk.js';
import type { StoreReader } from '../storage/readers/store-reader.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';
import type { RandomSource } from '../system/random-source.js';
import { sealSecret } from './secret-envelope.js';
import { storedReference } from './secret-reference.js';

export const SECRET_NAME = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;
export const SECRET_BYTES_MAX = 64 * 1024;

const TAKEN = 'secret_version';

/** Where units about secrets are made: the running server, or a command line that holds a stopped one's directory. */
export interface SecretDesk {
  readonly read: Pick<StoreReader, 'secrets' | 'streamVersion'>;
  readonly custody: Pick<Custody, 'keyRing'>;
}

export interface StoredVersion {
  readonly name: string;
  readonly version: number;
}

/** Writes secrets into units: the envelope into a row, the fact into an event, the value nowhere else. */
export class SecretKeeper {
  constructor(
    private readonly desk: SecretDesk,
    private readonly random: RandomSource,
    private readonly settings: Settings,
  ) {}

  /** Adds a new version. Of two at the same time one fails its guard. @throws CountersignError `invalid_request` */
  async putIn(draft: UnitDraft, name: string, value: string): Promise<StoredVersion> {
    if (!SECRET_NAME.test(name)) throw invalid('a name is a letter and up to 63 letters, digits, _, . or -');
    const bytes = Buffer.byteLength(value);
    if (bytes === 0 || bytes > SECRET_BYTES_MAX) throw invalid(`a value has 1 to ${SECRET_BYTES_MAX} bytes`);
    const rows = await this.desk.read.secrets(INSTALLATION);
    const version = Math.max(0, ...rows.filter((row) => row.name === name).map((row) => row.version)) + 1;
    const { keyRing } = this.desk.custody;
    const envelope = sealSecret(keyRing, this.random, { tenant: INSTALLATION, name, version }, value);
    const created_at = draft.context.occurredAt;
    const row = { tenant: INSTALLATION, name, version, ...envelope, created_at, retired_at: null };
    draft.write({ op: 'insert', table: 'secrets', row, takenGuard: TAKEN });
    const payload = { name, secretVersion: version, kekId: keyRing.currentId };
    draft.append(streamOf(name), await this.versionOf(name), [{ type: 'secret.stored', payload }], {});
    return { name, version };
  }

  /**
   * Takes the value of one version out of the store, for ever.
   *
   * @throws CountersignError `secret_not_found`; `secret_in_use` where a reference of the settings would have no value
   */
  async retireIn(draft: UnitDraft, name: string, version: number): Promise<void> {
    const rows = (await this.desk.read.secrets(INSTALLATION)).filter((row) => row.name === name);
    const alive = rows.filter((row) => row.retired_at === null).map((row) => row.version);
    if (!alive.includes(version)) throw new CountersignError('secret_not_found', 'there is no such version of it');
    const user = userOf(this.settings, name, version, alive.length === 1);
    if (user !== null) throw new CountersignError('secret_in_use', `${user} would have no value`);
    draft.write({
      op: 'set',
      table: 'secrets',
      where: { tenant: INSTALLATION, name, version, retired_at: null },
      set: { wrapped: null, kek_id: null, sealed: null, retired_at: draft.context.occurredAt },
      guard: TAKEN,
    });
    const payload = { name, secretVersion: version };
    draft.append(streamOf(name), await this.versionOf(name), [{ type: 'secret.retired', payload }], {});
  }

  private versionOf(name: string): Promise<number> {
    return this.desk.read.streamVersion(streamOf(name));
  }
}

const streamOf = (name: string) => ({ kind: 'ledger', id: `secret/${name}` }) as const;

const invalid = (message: string): CountersignError => new CountersignError('invalid_request', message);

/** The setting that needs this version: it names it, or it names the newest and this is the last. */
function userOf(settings: Settings, name: string, version: number, isLast: boolean): string | null {
  for (const [path, reference] of references(settings, [])) {
    const meant = storedReference(reference);
    if (meant?.name === name && (meant.version === version || (meant.version === null && isLast))) return path;
  }
  return null;
}

/** Every text of the settings with its path: whatever names a secret is one of them, wherever it stands. */
function* references(value: unknown, path: readonly string[]): Generator<readonly [string, string]> {
  if (typeof value === 'string') yield [path.join('.'), value];
  if (typeof value !== 'object' || value === null) return;
  for (const [key, inner] of Object.entries(value)) yield* references(inner, [...path, key]);
}
