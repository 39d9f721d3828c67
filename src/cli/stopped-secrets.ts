import type { Settings } from '../config/settings.js';
import type { Actor } from '../domain/events/envelope.js';
import { KeyRotation } from '../secrets/key-rotation.js';
import { SecretKeeper } from '../secrets/secret-keeper.js';
import { StoredSecrets } from '../secrets/stored-secrets.js';
import { INSTALLATION } from '../storage/units/unit-desk.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';
import { PinoLogger } from '../system/logger.js';
import { SystemRandom } from '../system/random-source.js';
import type { SecretWork } from './secret-work.js';
import { StoppedStore } from './stopped-store.js';

/** Whoever can open the files of a stopped server; who that is, the operating system knows. */
const COMMAND_LINE: Actor = { sub: 'command-line' };

/** The work on the directory of a stopped server. Close it at the end. @throws CountersignError as `StoppedStore.open` */
export async function stoppedSecrets(
  settings: Settings,
  problem: (message: string) => void,
): Promise<SecretWork & { close(): Promise<void> }> {
  const store = await StoppedStore.open(settings, problem);
  const keeper = new SecretKeeper(store, new SystemRandom(), settings);
  const begin = (name: string): UnitDraft =>
    store.begin({
      tenant: INSTALLATION,
      lane: 'govern',
      actor: COMMAND_LINE,
      correlationId: `secret/${name}`,
      occurredAt: store.now(),
      causationId: null,
      causeKind: 'external',
    });
  return {
    put: async (name, value) => {
      const draft = begin(name);
      const stored = await keeper.putIn(draft, name, value);
      await store.commit(draft);
      return stored;
    },
    list: async () => {
      const versions = await (await StoredSecrets.load(store.read, store.custody.keyRing)).list();
      return versions.map(({ name, version, kek_id, created_at, retired_at }) => ({
        name,
        version,
        kekId: kek_id,
        createdAt: created_at,
        retiredAt: retired_at,
      }));
    },
    retire: async (name, version) => {
      const draft = begin(name);
      await keeper.retireIn(draft, name, version);
      await store.commit(draft);
    },
    rewrap: async () => {
      const rotated = await new KeyRotation(store, new PinoLogger('error')).run(COMMAND_LINE);
      return { ...rotated, previousKekIds: [...rotated.previousKekIds] };
    },
    close: () => store.close(),
  };
}
