import type { Principal } from '../domain/principal.js';
import { META_HOLD, readHold, type Hold } from '../storage/hold.js';
import type { StoreReader } from '../storage/readers/store-reader.js';
import type { Feed } from '../storage/feed.js';
import type { Guard } from '../storage/unit.js';
import type { TableRow } from '../storage/rows/tables.js';

/** The row of `meta` that every proposal and dispatch guards: its value changes with every pause. */
export const PAUSE_REVISION = 'guard/pauses';

/**
 * What is paused, as of a revision. The board in memory only saves a read: a unit guards the revision it was decided
 * with, so a pause that another writer set in between makes the unit fail and be decided again.
 */
export class PauseBoard {
  private pauses: readonly TableRow<'pauses'>[] = [];
  private held: readonly string[] = [];
  private seen = '0';
  private storeHold: Hold | null = null;
  private isLeftToPolicy: (capability: string) => boolean = () => false;

  constructor(
    private readonly read: StoreReader,
    feed: Feed,
    /** `name@version` in force of a capability; undefined: none is. */
    private readonly idInForce: (name: string) => string | undefined = () => undefined,
  ) {
    feed.subscribe('pause-board', ({ unit }) => {
      if (unit.writes.some((write) => write.table === 'pauses' || write.table === 'capabilities')) {
        // A read that fails leaves the older revision: the next unit fails its guard and looks again.
        this.reload().catch(() => undefined);
      }
    });
  }

  /** Names of the capabilities that the breaker holds. */
  heldCapabilities(): readonly string[] {
    return this.held;
  }

  /** Why nothing at all is sent from this store; null when an operator need not look. */
  get hold(): Hold | null {
    return this.storeHold;
  }

  get revision(): string {
    return this.seen;
  }

  /** Everything that is paused, for readiness. */
  list(): readonly TableRow<'pauses'>[] {
    return this.pauses;
  }

  async reload(): Promise<void> {
    // The revision first: pauses that are newer than it only make a guard fail, never pass.
    const seen = (await this.read.meta(PAUSE_REVISION)) ?? '0';
    const pauses = await this.read.pauses();
    const held = await this.read.heldCapabilities();
    const hold = readHold(await this.read.meta(META_HOLD));
    // In one step: pauses of one reload must never stand beside the revision of another.
    this.pauses = pauses;
    this.held = held;
    this.storeHold = hold;
    this.seen = seen;
  }

  /** The pause that holds for such a call, or null. A held store pauses everything. */
  find(tenant: string, principal: Principal, capability: string): TableRow<'pauses'> | null {
    if (this.storeHold !== null) return HELD_STORE;
    return this.pauses.find((pause) => this.applies(pause, tenant, principal, capability)) ?? null;
  }

  /** True while an operator has suspended the agent, or whoever acts for itself. */
  isSuspended(tenant: string, principal: Principal): boolean {
    return this.pauses.some((pause) => pause.target_kind === 'agent' && isAimedAt(pause, tenant, principal));
  }

  /** Says for which capabilities the policy itself decides what a suspended agent may do; for all others it is paused. */
  leaveSuspensions(isLeftToPolicy: (capability: string) => boolean): void {
    this.isLeftToPolicy = isLeftToPolicy;
  }

  /** A capability is paused by its name, or as one version: that pause says nothing about the next version. */
  private applies(pause: TableRow<'pauses'>, tenant: string, principal: Principal, capability: string): boolean {
    const { target } = pause;
    switch (pause.target_kind) {
      case 'all':
        return true;
      case 'tenant':
        return target === tenant;
      case 'principal':
        return isAimedAt(pause, tenant, principal);
      case 'capability':
        if (pause.tenant !== tenant) return false;
        return target === capability || (target.includes('@') && target === this.idInForce(capability));
      case 'agent':
        return isAimedAt(pause, tenant, principal) && !this.isLeftToPolicy(capability);
    }
  }

  guard(): Guard {
    return {
      name: 'pauses',
      table: 'meta',
      where: { name: PAUSE_REVISION, value: { oneOf: [this.seen] } },
      expect: 'present',
    };
  }
}

const HELD_STORE: TableRow<'pauses'> = {
  tenant: '*',
  target_kind: 'all',
  target: '',
  reason: 'the store is held',
  set_event_id: '',
  set_at: '',
};

function isAimedAt(pause: TableRow<'pauses'>, tenant: string, principal: Principal): boolean {
  return pause.tenant === tenant && (pause.target === principal.sub || pause.target === principal.act);
}
