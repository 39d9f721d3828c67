import type { Provider } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { Clock } from '../system/clock.js';
import { IdSource } from '../system/id-source.js';
import { Metrics } from '../system/metrics/metrics.js';
import { Readiness } from '../system/readiness.js';
import { after } from '../system/timers.js';
import { VersionSet } from '../system/version-set.js';
import { SessionStores } from './open-session-stores.js';
import { SessionCoordinator } from './session-coordinator.js';
import { SessionDesk } from './session-desk.js';
import { SESSION_FOLD } from './session-folding.js';
import { SessionFollower } from './session-follower.worker.js';
import { SessionMirror } from './session-mirror.js';
import { SessionRecord } from './session-record.js';
import { holdsSecret } from './session-secrets.js';
import { watchSessions } from './session-watch.js';
import { StoreSessionRecord } from './store-session-record.js';

/** Durable rows of an open session that stay in memory, for readers who follow it. */
const ROWS_KEPT = 1000;

function coordinator(
  stores: SessionStores,
  record: SessionRecord,
  { sessions }: Settings,
  [clock, ids, versions]: readonly [Clock, IdSource, VersionSet],
): SessionCoordinator {
  const { backend, snapshots, isSecret } = stores;
  return new SessionCoordinator(
    { backend, snapshots, record },
    {
      fold: SESSION_FOLD,
      holdsSecret: (payload) => holdsSecret(isSecret, payload),
      eventBytesMax: sessions.eventBytesMax,
      batchEventsMax: sessions.batchEventsMax,
      rowsKept: ROWS_KEPT,
      writeBehind: {
        delayMs: sessions.writeBatchMaxDelayMs,
        eventsMax: sessions.pendingEventsMax,
        bytesMax: sessions.pendingBytesMax,
      },
      strictSnapshots: sessions.strictSnapshots,
      openMax: sessions.openMax,
      idleCloseMs: sessions.idleCloseMs,
      versionSetId: versions.id,
    },
    { clock, ids, after, report: (name, key, details) => record.audit(name, key, details) },
  );
}

/** Durable sessions, and what follows them. */
export const SESSIONS: Provider[] = [
  { provide: SessionRecord, useClass: StoreSessionRecord },
  {
    provide: SessionCoordinator,
    useFactory: (
      stores: SessionStores,
      record: SessionRecord,
      settings: Settings,
      clock: Clock,
      ids: IdSource,
      versions: VersionSet,
      readiness: Readiness,
      metrics: Metrics,
    ) => {
      const sessions = coordinator(stores, record, settings, [clock, ids, versions]);
      watchSessions(sessions, readiness, metrics);
      return sessions;
    },
    inject: [SessionStores, SessionRecord, Settings, Clock, IdSource, VersionSet, Readiness, Metrics],
  },
  SessionMirror,
  SessionFollower,
  SessionDesk,
];
