import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { EventType } from '../../domain/events/catalogue.js';
import { principalKey, principalOf } from '../../domain/principal.js';
import { hasRole, type Caller } from '../../identity/caller.js';
import { Store } from '../../storage/store.js';
import type { EventScope } from './event-scope.js';

/** Which events are asked for. */
export interface EventRequest {
  /** The position of the last event the reader has; -1 from the start. */
  readonly after: number;
  readonly runId: string | null;
  readonly types: readonly EventType[] | null;
}

export interface OpenedEvents {
  readonly scope: EventScope;
  /** Where to begin: as asked, or later when nothing in scope lies between. */
  readonly after: number;
}

/** What a caller may read: operators and auditors the events of their tenant, a harness those of a run of its own. */
@Injectable()
export class EventAccess {
  constructor(
    private readonly store: Store,
    private readonly settings: Settings,
  ) {}

  /**
   * @throws CountersignError `not_authorized` for a harness that names no run, `run_not_found`, and `invalid_request` for a position
   * that no event has yet: going on from there would pass over events in silence.
   */
  async open(caller: Caller, { after, runId, types }: EventRequest): Promise<OpenedEvents> {
    const seesAll = hasRole(caller, 'operator', 'auditor');
    if (!seesAll && runId === null) {
      throw new CountersignError('not_authorized', 'a harness reads the events of one of its runs: name it as runId');
    }
    const runStart = runId === null ? -1 : await this.startOf(caller, runId, seesAll);
    if (!(await this.exists(after))) {
      throw new CountersignError('invalid_request', 'no event has this position yet', { pointer: '/after' });
    }
    const installation = runId === null && caller.tenant === this.settings.installation.operatorTenant;
    return {
      scope: { tenant: caller.tenant, installation, runId, types: types === null ? null : new Set(types) },
      after: Math.max(after, runStart - 1),
    };
  }

  /** What a reader was shown may be on disk a moment before the feed says so. */
  private async exists(position: number): Promise<boolean> {
    if (position < this.store.feed.head()) return true;
    const [event] = await this.store.read.eventsAfter(position - 1, 1, null);
    return event?.position === position;
  }

  /** The position of the run's first event: nothing before it is about the run. */
  private async startOf(caller: Caller, runId: string, seesAll: boolean): Promise<number> {
    const run = await this.store.read.run(caller.tenant, runId);
    const own = run !== null && run.principal === principalKey(principalOf(caller.actor));
    if (run === null || !(own || seesAll)) throw new CountersignError('run_not_found', 'there is no such run');
    return (await this.store.read.runStart(caller.tenant, runId))?.position ?? 0;
  }
}
