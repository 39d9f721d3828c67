import type { Metrics } from '../system/metrics/metrics.js';
import type { Readiness } from '../system/readiness.js';
import type { SessionCoordinator } from './session-coordinator.js';

/** What operators see of sessions: how many are open, how much waits for the disk, and what could not be written. */
export function watchSessions(sessions: SessionCoordinator, readiness: Readiness, metrics: Metrics): void {
  const statuses = () => sessions.all().map((live) => live.status());
  metrics.gauge('countersign_sessions_open', 'Sessions in memory.', () => sessions.all().length);
  metrics.gauge('countersign_session_events_pending', 'Events of sessions that wait for the disk.', () =>
    statuses().reduce((sum, { pending, active }) => sum + pending + active, 0),
  );
  readiness.watch(() => {
    const failed = statuses().filter(({ automaticPaused }) => automaticPaused).length;
    const writes = failed === 0 ? [] : [`the logs of ${failed} sessions could not be written; a flush tries again`];
    const marks = sessions.saves.isDegraded ? ['the end of a run could neither be saved nor marked'] : [];
    return [...writes, ...marks].map((detail) => ({ name: 'session_logs', weight: 'degraded', detail }) as const);
  });
}
