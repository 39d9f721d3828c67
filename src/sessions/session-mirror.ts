import { Injectable } from '@nestjs/common';
import type { SessionKey } from '../domain/session/session-key.js';
import type { CommittedUnit } from '../storage/feed.js';
import { Store } from '../storage/store.js';
import { Logger, errorName } from '../system/logger.js';
import type { LiveSession } from './live-session.js';
import { SessionCoordinator } from './session-coordinator.js';
import { textOf } from './session-media.js';

/**
 * Repeats governed events in the logs of live sessions, in order of position, right after their commit. Sessions that are not
 * in memory get theirs when they are loaded; whatever is missed here is found then.
 */
@Injectable()
export class SessionMirror {
  private readonly busy = new Map<string, Promise<void>>();
  private readonly again = new Set<string>();
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

  /** Resolves when the log of the live session repeats everything that was committed before the call. */
  caughtUp(live: LiveSession): Promise<void> {
    const text = textOf(live.key);
    const running = this.busy.get(text);
    if (running !== undefined) {
      this.again.add(text);
      return running;
    }
    const work = this.untilQuiet(live, text).finally(() => this.busy.delete(text));
    this.busy.set(text, work);
    return work;
  }

  private async untilQuiet(live: LiveSession, text: string): Promise<void> {
    do {
      this.again.delete(text);
      const { tenant, sessionId } = live.key;
      const upTo = this.store.feed.head() - 1;
      const after = live.facts.mirroredPosition;
      if (upTo <= after) continue;
      // A session that has no mirror yet may be old: its events are found by its name, not by going through everything.
      const events =
        after === -1
          ? await this.store.read.sessionEvents(tenant, sessionId, after, Number.MAX_SAFE_INTEGER)
          : await this.store.read.sessionEventsBetween(tenant, sessionId, after, upTo);
      for (const event of events) live.mirror(event);
    } while (this.again.has(text));
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
