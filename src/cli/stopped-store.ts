import type { Settings } from '../config/settings.js';
import type { UnitContext } from '../storage/units/unit-draft.js';
import { UnitDraft } from '../storage/units/unit-draft.js';
import { openStore } from '../storage/sqlite/open-store.js';
import { SCHEMA_VERSION } from '../storage/migrations.js';
import type { Store } from '../storage/store.js';
import type { Committed } from '../storage/unit.js';
import { SystemClock } from '../system/clock.js';
import { IdSource } from '../system/id-source.js';
import { PRODUCT_VERSION } from '../system/product-version.js';
import { SystemRandom } from '../system/random-source.js';

/** The store of a data directory that no server runs on, as long as this process holds it. */
export class StoppedStore {
  private readonly clock = new SystemClock();
  private readonly ids = new IdSource(this.clock, new SystemRandom());

  private constructor(private readonly store: Store) {}

  /** @throws CountersignError `instance_already_running` and whatever opening a store is refused with */
  static async open(settings: Settings, problem: (message: string) => void): Promise<StoppedStore> {
    const store = await openStore({
      dataDir: settings.dataDir,
      storage: settings.storage,
      clock: new SystemClock(),
      random: new SystemRandom(),
      versionSetId: `countersign/${PRODUCT_VERSION} events/1 schema/${SCHEMA_VERSION}`,
      problem,
    });
    return new StoppedStore(store);
  }

  get read(): Store['read'] {
    return this.store.read;
  }

  get custody(): Store['custody'] {
    return this.store.custody;
  }

  now(): string {
    return new Date(this.clock.now()).toISOString();
  }

  begin(context: UnitContext): UnitDraft {
    return new UnitDraft(this.ids, context);
  }

  commit(draft: UnitDraft): Promise<Committed> {
    return this.store.commit(draft.build());
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
