import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppModule, type Foundation } from './app.module.js';
import { loadCapabilities } from './capabilities/capability-registry.js';
import { DispatchHandover } from './capabilities/dispatch-handover.js';
import { StoreHold } from './capabilities/store-hold.js';
import { PAUSE_REVISION, PauseBoard } from './capabilities/pause-board.js';
import { CapabilityRegistration } from './capabilities/registration.js';
import type { Settings } from './config/settings.js';
import { loadResumeContract } from './contracts/resume-contract.js';
import { CountersignError } from './domain/errors/countersign-error.js';
import { ID_PREFIXES } from './domain/ids/ids.js';
import { HttpClient } from './egress/http-client.js';
import { PROBLEM_TYPE, problemFor } from './http/problem.filter.js';
import { acceptStrictJsonOnly } from './http/json-body.js';
import { LastRequests } from './http/last-requests.js';
import { SessionReading } from './http/session-reading.js';
import { measureRequests } from './http/request-metrics.js';
import { OutboxRelay } from './outbox/outbox-relay.js';
import { checkSinks } from './outbox/sink-problems.js';
import { LeaseSweep } from './policy/leases/lease-sweep.js';
import { PolicyBoot } from './policy/life/policy-boot.js';
import { PolicyShadow } from './policy/life/shadow.worker.js';
import { PolicyService } from './policy/policy.service.js';
import { Attempt } from './proxy/executor/attempt.js';
import { Dispatcher } from './proxy/executor/dispatcher.js';
import { Executor } from './proxy/executor/executor.worker.js';
import type { RunningTracing } from './proxy/observe/start-tracing.js';
import { Reconciliation } from './proxy/reconcile/reconciliation.js';
import { RestoredCalls } from './proxy/reconcile/restored-calls.js';
import { CallWatch } from './runtime/call-watch.js';
import { EventStreams } from './runtime/events/event-streams.js';
import { Revocations } from './identity/revocations.js';
import { KeyRotation } from './secrets/key-rotation.js';
import { Credentials } from './secrets/credentials.js';
import { SecretSource } from './secrets/secret-reference.js';
import { StoredSecrets } from './secrets/stored-secrets.js';
import { knownSessionEpoch } from './sessions/backends/known-epoch.js';
import { openSessionStores } from './sessions/open-session-stores.js';
import { VersionSet } from './system/version-set.js';
import { SCHEMA_VERSION } from './storage/migrations.js';
import { openStore } from './storage/sqlite/open-store.js';
import { StoreMetrics } from './storage/store-metrics.js';
import { Store } from './storage/store.js';
import { UnitDesk } from './storage/units/unit-desk.js';
import { SystemClock } from './system/clock.js';
import { Logger, PinoLogger, errorName } from './system/logger.js';
import { Metrics } from './system/metrics/metrics.js';
import { SystemRandom } from './system/random-source.js';
import { Grace } from './system/grace.js';
import { PRODUCT_VERSION } from './system/product-version.js';
import { endSessions, startWork, within } from './start-work.js';

/** Names the product, event catalogue and schema versions that write into the store. */
const VERSION_SET = `countersign/${PRODUCT_VERSION} events/1 schema/${SCHEMA_VERSION}`;

/** How long the last answers of a stopping process may take to leave. */
const CLOSING_MS = 1000;

/** How long the last records of a stopping process may take. */
const RECORDING_MS = 2000;

export interface RunningServer {
  readonly url: string;
  /** Resolves when another process has taken over the data directory. */
  readonly takenOver: Promise<'taken_over'>;
  /** Admits nothing new, lets what is on the wire end within the grace (or until `hurry` is aborted), closes. */
  stop(hurry: AbortSignal): Promise<void>;
}

export interface StartOptions {
  /** Start although another process has the data directory, and end its work. */
  readonly takeOver?: boolean;
}

/** Opens what is durable, checks everything, and only then listens. */
export async function startServer(
  settings: Settings,
  logger: Logger,
  { takeOver = false }: StartOptions = {},
): Promise<RunningServer> {
  const resumeContract = loadResumeContract(settings.execution.resumeContractFile, VERSION_SET);
  const capabilities = await loadCapabilities(settings.capabilities.dir, settings);
  const metrics = new Metrics();
  const store = await openStore({
    dataDir: settings.dataDir,
    storage: settings.storage,
    takeOver,
    clock: new SystemClock(),
    random: new SystemRandom(),
    versionSetId: VERSION_SET,
    meter: new StoreMetrics(metrics),
    problem: (message, error) => logger.error(message, { error: error === undefined ? null : errorName(error) }),
  });
  try {
    const stored = await StoredSecrets.load(store.read, store.custody.keyRing);
    const secrets = new SecretSource(stored);
    const credentials = new Credentials(settings, secrets);
    checkSinks(settings, secrets.resolve);
    const instance = await store.registerInstance(await knownSessionEpoch(settings.dataDir));
    const sessions = await openSessionStores({
      dataDir: settings.dataDir,
      settings: settings.sessions,
      instanceEpoch: instance.epoch,
      tookOver: takeOver,
      isSecret: (text) => credentials.scrub.containsSecret(text),
      clock: new SystemClock(),
    });
    try {
      const opened = {
        settings,
        logger,
        metrics,
        store,
        instance,
        capabilities,
        credentials,
        stored,
        secrets,
        resumeContract,
        sessions,
      };
      return await assemble({ ...opened, versions: new VersionSet(VERSION_SET) });
    } catch (error) {
      await sessions.close();
      throw error;
    }
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function assemble(foundation: Foundation): Promise<RunningServer> {
  const { settings, logger } = foundation;
  const adapter = new FastifyAdapter({
    bodyLimit: settings.http.bodyBytesMax,
    routerOptions: { maxParamLength: 300, ignoreTrailingSlash: false },
    forceCloseConnections: 'idle',
    exposeHeadRoutes: false,
    // What Fastify refuses before a route is found never reaches Nest.
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) => {
      const problem = problemFor(error);
      void reply.code(problem.status).type(PROBLEM_TYPE).send(JSON.stringify(problem));
    },
  });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.on(foundation), adapter, {
    bodyParser: false,
    logger: false,
    abortOnError: false,
  });
  const server = adapter.getInstance();
  acceptStrictJsonOnly(server, settings);
  const lastRequests = new LastRequests(server);
  measure(server, foundation.metrics);
  const tracing = await trace(app, foundation);
  server.server.maxConnections = settings.http.connectionsMax;
  await prepare(app);
  await app.init();
  const relay = app.get(OutboxRelay);
  await relay.open();
  relay.start();
  const stopWork = await startWork(app, settings, logger);
  await listen(app, settings);
  return {
    takenOver: new Promise((resolve) => foundation.store.whenTakenOver(() => resolve('taken_over'))),
    url: urlOf(server.server.address(), settings.http.host),
    stop: async (hurry) => {
      const grace = new Grace(settings.shutdownGraceMs, hurry);
      await stopAdmitting(app, lastRequests, grace);
      const work = Promise.all([stopWork(grace.leftMs()), relay.stop()]);
      await grace.within(work);
      // Whoever asks meanwhile is told to ask elsewhere, which is kinder than a connection that breaks.
      await lastRequests.letGo();
      await within(CLOSING_MS, app.close());
      await app.get(PolicyShadow).stop();
      await app.get(PolicyService).onApplicationShutdown();
      await app.get(HttpClient).destroy();
      await within(RECORDING_MS, endSessions(app, logger));
      // What was torn down is recorded as unknown, or as not sent, before the store closes.
      await within(RECORDING_MS, Promise.all([work, app.get(Executor).idle()]));
      await app.get(Store).close();
      await tracing?.stop();
    },
  };
}

/** The facts every decision guards: the definitions, the policy set, and what is paused. */
async function prepare(app: NestFastifyApplication): Promise<void> {
  // First of all: what a restored store holds is moved before anything else looks at it.
  const hold = await app.get(StoreHold).begin();
  if (hold !== null) await app.get(RestoredCalls).settle(hold);
  await app.get(CapabilityRegistration).register();
  await app.get(PolicyBoot).begin();
  const desk = app.get(UnitDesk);
  if ((await desk.read.meta(PAUSE_REVISION)) === null) {
    const value = desk.newId(ID_PREFIXES.unit);
    await desk.commit(
      desk.beginInstallation('pauses').write({ op: 'put', table: 'meta', row: { name: PAUSE_REVISION, value } }),
    );
  }
  await app.get(PauseBoard).reload();
  await app.get(Revocations).reload();
  app.get(KeyRotation).start();
  await app.get(LeaseSweep).atBoot();
}

/** Counts what the process does, from its first request on. */
function measure(server: FastifyInstance, metrics: Metrics): void {
  const build = { version: PRODUCT_VERSION, node: process.version, versions: VERSION_SET };
  metrics.gauges(
    'countersign_build_info',
    'Always 1; what runs is in the labels.',
    ['version', 'node', 'versions'],
    () => [{ labels: build, value: 1 }],
  );
  metrics.watchProcess();
  measureRequests(server, metrics);
}

/** Traces what the process does. A process that does not trace does not even load what it takes. */
async function trace(app: NestFastifyApplication, foundation: Foundation): Promise<RunningTracing | null> {
  const { settings, logger, metrics, store, instance } = foundation;
  const { otlpUrl, sampleRatio, propagate } = settings.tracing;
  if (otlpUrl === null) return null;
  const [{ startTracing }, { traceRequestsOf }, { traceCallsIn }, { traceWork }] = await Promise.all([
    import('./proxy/observe/start-tracing.js'),
    import('./http/request-traces.js'),
    import('./proxy/observe/call-traces.js'),
    import('./proxy/observe/trace-work.js'),
  ]);
  const names = { installation: settings.installation.name, instanceId: instance.instanceId };
  const started = startTracing({ otlpUrl, sampleRatio, ...names }, logger, metrics);
  const { tracing } = started;
  traceRequestsOf(app.getHttpAdapter().getInstance() as FastifyInstance, tracing);
  traceCallsIn(store.feed, tracing);
  const parts = {
    store,
    policy: app.get(PolicyService),
    http: app.get(HttpClient),
    dispatcher: app.get(Dispatcher),
    attempt: app.get(Attempt),
    reconciliation: app.get(Reconciliation),
  };
  traceWork(tracing, parts, propagate);
  if (logger instanceof PinoLogger) logger.traceIdOf = (toolCallId) => tracing.ofCall(toolCallId).traceId;
  return started;
}

/** No new work and no new dispatches; requests under way are answered. */
async function stopAdmitting(app: NestFastifyApplication, lastRequests: LastRequests, grace: Grace): Promise<void> {
  app.get(DispatchHandover).close();
  app.get(CallWatch).close();
  app.get(EventStreams).close();
  app.get(SessionReading).close();
  await lastRequests.refuse(grace);
}

async function listen(app: NestFastifyApplication, { http }: Settings): Promise<void> {
  try {
    await app.listen(http.port, http.host);
  } catch (error) {
    const code: unknown = (error as { code?: unknown }).code;
    if (code !== 'EADDRINUSE' && code !== 'EACCES' && code !== 'EADDRNOTAVAIL') throw error;
    throw new CountersignError('address_in_use', `cannot listen on ${http.host} port ${http.port}: ${code}`);
  }
}

function urlOf(address: string | { address: string; port: number } | null, host: string): string {
  if (address === null || typeof address === 'string') throw new Error('the server has no network address');
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`;
}
