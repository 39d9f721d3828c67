import { Injectable } from '@nestjs/common';
import type { SessionKey } from '../domain/session/session-key.js';
import type { CommittedUnit } from '../storage/feed.js';
import type { SessionFactRecord } from '../storage/readers/session-records.js';
import { Store } from '../storage/store.js';
import { Logger, errorName } from '../system/logger.js';
import type { LiveSession } from './live-session.js';
import { SessionCoordinator } from './session-coordinator.js';

/** Positions of everybody that are looked through for events of one session; over more, they are found by its name. */
const WINDOW_MAX = 2000;

/**
 * Repeats governed events in the logs of live sessions, in order of position, right after their commit. Sessions that are not
 * in memory get theirs when they are loaded; whatever is missed here is found then.
 */
@Injectable()
export class SessionMirror {
  private readonly busy = new Map<LiveSession, Promise<void>>();
  private readonly again = new Set<LiveSession>();
  /** Up to here nothing of the session is missing in its log, although most of what lies before is of others. */
  private readonly seenUpTo = new WeakMap<LiveSession, number>();
  private stopListening: () => void = () => {};

  constructor(
    private readonly store: Store,
    private readonly coordinator: SessionCoordinator,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.stopListening = this.store.feed.subscribe('session-mirror', (durable) => this.onDurable(durable));
  }

  async stop(): Promise<void> {
    this.stopListening();
    while (this.busy.size > 0) await Promise.allSettled(this.busy.values());
  }

  /**
   * Resolves when the log of the live session repeats everything that was committed before the call; also when the session has
   * been closed, and nothing is repeated in it any more.
   */
  caughtUp(live: LiveSession): Promise<void> {
    const running = this.busy.get(live);
    if (running !== undefined) {
      this.again.add(live);
      return running;
    }
    if (this.seen(live) >= this.store.feed.head() - 1) return Promise.resolve();
    const work = Promise.resolve().then(() => this.untilQuiet(live));
    this.busy.set(live, work);
    return work;
  }

  private async untilQuiet(live: LiveSession): Promise<void> {
    try {
      do {
        this.again.delete(live);
        const upTo = this.store.feed.head() - 1;
        for (const event of await this.missing(live, upTo)) {
          if (live.isClosed) return;
          live.mirror(event);
        }
        this.seenUpTo.set(live, Math.max(upTo, live.facts.mirroredPosition));
      } while (this.again.has(live));
    } finally {
      // In the job that saw that nobody asked again: who asks from here on is looked after anew.
      this.again.delete(live);
      this.busy.delete(live);
    }
  }

  private missing(live: LiveSession, upTo: number): Promise<readonly SessionFactRecord[]> {
    const { read } = this.store;
    const { tenant, sessionId } = live.key;
    const after = this.seen(live);
    return upTo - after > WINDOW_MAX
      ? read.sessionEvents(tenant, sessionId, after, Number.MAX_SAFE_INTEGER)
      : read.sessionEventsBetween(tenant, sessionId, after, upTo);
  }

  private seen(live: LiveSession): number {
    return this.seenUpTo.get(live) ?? live.facts.mirroredPosition;
  }

  private onDurable({ unit }: CommittedUnit): void {
    const named = new Set<string>();
    for (const { events } of unit.appends) {
      for (const { refs } of events) {
        if (refs.sessionId !== undefined && refs.sessionId !== refs.runId) named.add(refs.sessionId);
      }
    }
    for (const sessionId of named) this.wake({ tenant: unit.tenant, sessionId });
  }

  private wake(key: SessionKey): void {
    const live = this.coordinator.find(key);
    if (live === undefined) return;
    this.caughtUp(live).catch((error: unknown) => {
      this.logger.error('governed events could not be repeated in the log of their session', {
        error: errorName(error),
      });
    });
  }
}
