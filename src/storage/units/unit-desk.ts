import type { Actor, CauseKind } from '../../domain/events/envelope.js';
import type { IdPrefix } from '../../domain/ids/ids.js';
import { Clock } from '../../system/clock.js';
import { IdSource } from '../../system/id-source.js';
import type { Custody } from '../custody.js';
import type { Feed } from '../feed.js';
import { InstanceIdentity } from '../instance-identity.js';
import type { StoreReader } from '../readers/store-reader.js';
import { Store, type InstanceRef } from '../store.js';
import type { Committed, Guard, Lane } from '../unit.js';
import { UnitDraft, type UnitContext } from './unit-draft.js';

/** The product itself, when it speaks of what it did or of what time has done. */
export const COUNTERSIGN: Actor = { sub: 'countersign' };

/** What belongs to the installation and to no tenant. */
export const INSTALLATION = '*';

/** The columns of a call, an approval or a run that say what a unit about it is about. */
export interface AboutRow {
  readonly tenant: string;
  readonly run_id: string;
  readonly session_id: string;
  readonly correlation_id?: string;
  readonly last_event_id?: string;
}

/**
 * Where units are written: the store, the time, the ids and this process in one place, so that whoever records
 * something collects, decides and commits, and needs nothing else.
 */
export class UnitDesk {
  constructor(
    private readonly store: Store,
    private readonly ids: IdSource,
    readonly clock: Clock,
    private readonly identity: InstanceIdentity,
  ) {}

  get read(): StoreReader {
    return this.store.read;
  }

  get feed(): Feed {
    return this.store.feed;
  }

  get custody(): Custody {
    return this.store.custody;
  }

  get instance(): InstanceRef {
    return this.identity.get();
  }

  /** ISO 8601 in UTC with milliseconds. */
  now(): string {
    return new Date(this.clock.now()).toISOString();
  }

  newId(prefix: IdPrefix): string {
    return this.ids.next(prefix);
  }

  begin(context: UnitContext): UnitDraft {
    return new UnitDraft(this.ids, context);
  }

  /** This process still owns what it claims: nobody has taken over since it registered. */
  ownerGuard(): Guard {
    const { instanceId, epoch } = this.instance;
    return {
      name: 'instance',
      table: 'instances',
      where: { instance_id: instanceId, epoch, state: 'running' },
      expect: 'present',
    };
  }

  /** A unit of the product's own about one call or run, caused by its newest event or by time alone. */
  beginAbout(
    row: AboutRow,
    how: {
      readonly lane: Lane;
      readonly causeKind: CauseKind;
      readonly occurredAt?: string;
      readonly synthetic?: true;
    },
  ): UnitDraft {
    return this.begin({
      tenant: row.tenant,
      lane: how.lane,
      actor: COUNTERSIGN,
      correlationId: row.correlation_id ?? row.run_id,
      runId: row.run_id,
      sessionId: row.session_id,
      occurredAt: how.occurredAt ?? this.now(),
      causationId: how.causeKind === 'event' ? (row.last_event_id ?? null) : null,
      causeKind: how.causeKind,
      ...(how.synthetic === undefined ? {} : { synthetic: how.synthetic }),
    });
  }

  /** A unit of the product's own about the installation. */
  beginInstallation(correlationId: string, causationId: string | null = null): UnitDraft {
    return this.begin({
      tenant: INSTALLATION,
      lane: 'govern',
      actor: COUNTERSIGN,
      correlationId,
      occurredAt: this.now(),
      causationId,
      causeKind: causationId === null ? 'external' : 'event',
    });
  }

  /** @throws GuardFailed when a guard did not hold and nothing was written; CountersignError when the store cannot write. */
  commit(draft: UnitDraft): Promise<Committed> {
    return this.store.commit(draft.build());
  }
}
