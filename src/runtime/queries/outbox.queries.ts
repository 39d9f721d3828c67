import { Query, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { hasRole, type Caller } from '../../identity/caller.js';
import type { DeadLetter } from '../../storage/readers/store-reader.js';
import { Store } from '../../storage/store.js';
import { Clock } from '../../system/clock.js';

export interface SinkView {
  readonly name: string;
  readonly kind: 'webhook' | 'file' | 'chat';
  readonly cursor: number;
  readonly lagPositions: number;
  readonly lagMs: number;
  readonly parked: number;
  readonly dead: number;
  readonly lastError: string | null;
  readonly failingSince: string | null;
  readonly replay: { readonly position: number; readonly toPosition: number } | null;
}

export interface DeadLetterPage {
  readonly letters: readonly DeadLetter[];
  /** Null when this was the last page. */
  readonly nextAfter: number | null;
}

/** Every sink of the settings and how far it is. */
export class ListSinks extends Query<readonly SinkView[]> {
  constructor(readonly caller: Caller) {
    super();
  }
}

/** What sinks are offered no more, by position. */
export class ListDeadLetters extends Query<DeadLetterPage> {
  constructor(
    readonly caller: Caller,
    readonly sink: string | null,
    readonly after: number,
    readonly limit: number,
  ) {
    super();
  }
}

@QueryHandler(ListSinks)
export class ListSinksHandler implements IQueryHandler<ListSinks> {
  constructor(
    private readonly store: Store,
    private readonly settings: Settings,
    private readonly clock: Clock,
  ) {}

  async execute({ caller }: ListSinks): Promise<readonly SinkView[]> {
    requireInstallationReader(caller, this.settings);
    const sinks = Object.entries(this.settings.outbox.sinks);
    return Promise.all(sinks.map(([name, { kind }]) => this.view(name, kind)));
  }

  private async view(name: string, kind: SinkView['kind']): Promise<SinkView> {
    const { read, feed } = this.store;
    const row = await read.sinkCursor(name);
    if (row === null) throw new Error('a sink of the settings has no row');
    const { parked, dead, waitingSince } = await read.sinkBacklog(name);
    return {
      name,
      kind,
      cursor: row.position,
      lagPositions: Math.max(0, feed.head() - 1 - row.position),
      lagMs: waitingSince === null ? 0 : Math.max(0, this.clock.now() - Date.parse(waitingSince)),
      parked,
      dead,
      lastError: row.last_error,
      failingSince: row.failing_since,
      replay:
        row.replay_position === null || row.replay_to === null
          ? null
          : { position: row.replay_position, toPosition: row.replay_to },
    };
  }
}

@QueryHandler(ListDeadLetters)
export class ListDeadLettersHandler implements IQueryHandler<ListDeadLetters> {
  constructor(
    private readonly store: Store,
    private readonly settings: Settings,
  ) {}

  async execute({ caller, sink, after, limit }: ListDeadLetters): Promise<DeadLetterPage> {
    requireInstallationReader(caller, this.settings);
    if (sink !== null && !Object.hasOwn(this.settings.outbox.sinks, sink)) {
      throw new CountersignError('sink_not_found', 'there is no such sink');
    }
    const letters = await this.store.read.deadLetters(sink, after, limit);
    return { letters, nextAfter: letters.length < limit ? null : (letters.at(-1)?.position ?? null) };
  }
}

/** Sinks are told of every tenant. @throws CountersignError `not_authorized` */
function requireInstallationReader(caller: Caller, { installation }: Pick<Settings, 'installation'>): void {
  if (hasRole(caller, 'operator', 'auditor') && caller.tenant === installation.operatorTenant) return;
  throw new CountersignError(
    'not_authorized',
    'only operators and auditors of the installation may see this (installation.operatorTenant)',
  );
}
