import { type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Settings } from './config/settings.js';
import { LeaseSweep } from './policy/leases/lease-sweep.js';
import { UpstreamRevocations } from './policy/leases/upstream-revocations.js';
import { ActivationExpiry } from './policy/life/activation-expiry.js';
import { PolicyBoot } from './policy/life/policy-boot.js';
import { PolicyWatch } from './policy/policy-watch.js';
import { Breaker } from './proxy/executor/breaker.js';
import { Canceller } from './proxy/cancel/canceller.worker.js';
import { Executor } from './proxy/executor/executor.worker.js';
import { LateResults } from './proxy/reconcile/late-results.worker.js';
import { AcceptedPolling } from './proxy/reconcile/accepted-polling.js';
import { Reconciler } from './proxy/reconcile/reconciler.worker.js';
import { StoppingRuns } from './proxy/stop/stopping-runs.worker.js';
import { AuthorizedCalls } from './proxy/sweep/authorized-calls.js';
import { IdleRuns } from './proxy/sweep/idle-runs.js';
import { OutcomeDeadlines } from './proxy/sweep/outcome-deadlines.js';
import { EndedWindows } from './proxy/sweep/ended-windows.js';
import { UnmatchedEvidence } from './proxy/sweep/unmatched-evidence.js';
import { Ownership } from './proxy/sweep/ownership.js';
import { OrphanedAttempts } from './proxy/sweep/orphaned-attempts.js';
import { SessionStores } from './sessions/open-session-stores.js';
import { SessionCoordinator } from './sessions/session-coordinator.js';
import { SessionFollower } from './sessions/session-follower.worker.js';
import { SessionMirror } from './sessions/session-mirror.js';
import { StoreWatch } from './storage/store-watch.js';
import { UnitDesk } from './storage/units/unit-desk.js';
import { ClockWatch } from './system/clock-watch.js';
import { Logger, errorName } from './system/logger.js';
import { Periodic } from './system/periodic.js';
import { Readiness } from './system/readiness.js';
import { watchSweep } from './system/sweep-watch.js';
import { ApprovalChores } from './policy/approvals/approval-chores.js';
import { pause } from './system/timers.js';

/** How often it is seen which accepted calls may be asked about again. */
const POLL_INTERVAL_MS = 1000;

/** Everything said in sessions is on disk before their stores close; what could not be written is told, never hidden. */
export async function endSessions(app: NestFastifyApplication, logger: Logger): Promise<void> {
  await app.get(SessionMirror).stop();
  await app.get(SessionFollower).idle();
  try {
    await app.get(SessionCoordinator).drain();
  } catch (error) {
    const problems = error instanceof AggregateError ? error.errors.length : 1;
    logger.error('sessions were not brought to an end', { error: errorName(error), problems });
  }
  await app
    .get(SessionStores)
    .close()
    .catch((error: unknown) => logger.error('the stores of sessions did not close', { error: errorName(error) }));
}

/** First what the last process left behind, then what comes. */
export async function startWork(
  app: NestFastifyApplication,
  settings: Settings,
  logger: Logger,
): Promise<(graceMs: number) => Promise<void>> {
  const [executor, reconciler, breaker] = [app.get(Executor), app.get(Reconciler), app.get(Breaker)];
  const [canceller, stopping, late] = [app.get(Canceller), app.get(StoppingRuns), app.get(LateResults)];
  const [orphans, authorized, idleRuns] = [app.get(OrphanedAttempts), app.get(AuthorizedCalls), app.get(IdleRuns)];
  const [policyWatch, storeWatch, clockWatch] = [app.get(PolicyWatch), app.get(StoreWatch), app.get(ClockWatch)];
  const sweep = new Periodic(
    [
      { name: 'ownership', tick: () => app.get(Ownership).tick() },
      ...app.get(ApprovalChores).list(),
      { name: 'orphaned attempts', tick: () => orphans.tick() },
      { name: 'late results', tick: () => late.tick() },
      { name: 'authorized calls', tick: () => authorized.tick() },
      { name: 'idle runs', tick: () => idleRuns.tick() },
      { name: 'stopping runs', tick: () => stopping.tick() },
      { name: 'sessions', tick: () => app.get(SessionFollower).tick() },
      ...leaseChores(app),
      ...ofThePast(app),
    ],
    settings.execution.sweepIntervalMs,
    logger,
  );
  const looks = new Periodic(
    [
      { name: 'policy probe', tick: () => policyWatch.look() },
      { name: 'free space', tick: () => storeWatch.look() },
    ],
    settings.readiness.probeIntervalMs,
    logger,
  );
  const polling = app.get(AcceptedPolling);
  const polls = new Periodic([{ name: 'accepted calls', tick: () => polling.tick() }], POLL_INTERVAL_MS, logger);
  watchSweep(sweep, app.get(Readiness));
  await looks.start();
  void resumeShadow(app, logger);
  clockWatch.onIrregularity(() => void sweep.wake());
  clockWatch.start(await lastSignOfLife(app.get(UnitDesk)));
  executor.start();
  breaker.start();
  late.start();
  canceller.start();
  stopping.start();
  app.get(SessionMirror).start();
  authorized.start(() => void sweep.wake());
  await sweep.start();
  reconciler.start();
  // Its first pass asks tools, which nobody has to wait for.
  void polls.start();
  return async (graceMs) => {
    await looks.stop();
    clockWatch.stop();
    await sweep.stop();
    await within(graceMs, polls.stop());
    await reconciler.stop();
    await late.stop();
    await stopping.stop();
    await within(graceMs, canceller.stop());
    await executor.stop(graceMs);
    breaker.stop();
  };
}

/** What ends leases here, and at whoever made a credential for one. */
const leaseChores = (app: NestFastifyApplication) => [
  { name: 'lease expiry', tick: () => app.get(LeaseSweep).tick() },
  { name: 'upstream revocations', tick: () => app.get(UpstreamRevocations).tick() },
];
/** A shadow decides nothing, so the start neither waits for it nor fails with it. */
async function resumeShadow(app: NestFastifyApplication, logger: Logger): Promise<void> {
  try {
    await app.get(PolicyBoot).resumeShadow();
  } catch (error) {
    logger.error('the shadow policy set was not resumed', { error: errorName(error) });
  }
}

/** Wall-clock milliseconds; null in a new installation. */
async function lastSignOfLife({ read, instance }: UnitDesk): Promise<number | null> {
  const before = (await read.instances()).findLast(({ epoch }) => epoch < instance.epoch);
  return before === undefined ? null : Date.parse(before.heartbeat_at);
}

/** Waits for the work, but no longer than so many milliseconds. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  await Promise.race([work, pause(ms)]);
}

/** What has had its time. */
const ofThePast = (app: NestFastifyApplication) => [
  { name: 'outcome deadlines', tick: () => app.get(OutcomeDeadlines).tick() },
  { name: 'unmatched evidence', tick: () => app.get(UnmatchedEvidence).tick() },
  { name: 'policy activations', tick: () => app.get(ActivationExpiry).tick() },
  { name: 'ended windows', tick: () => app.get(EndedWindows).tick() },
];
