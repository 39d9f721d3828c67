import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { APP_FILTER, APP_GUARD } from '@nestjs/core';
import { CqrsModule } from '@nestjs/cqrs';
import { CapabilityRegistry } from './capabilities/capability-registry.js';
import { CapabilityGate } from './capabilities/capability-gate.js';
import { CapabilityWatch } from './capabilities/capability-watch.js';
import { DispatchHandover } from './capabilities/dispatch-handover.js';
import { ExecutionSlots } from './capabilities/execution-slots.js';
import { PauseBoard } from './capabilities/pause-board.js';
import { CapabilityRegistration } from './capabilities/registration.js';
import { Settings } from './config/settings.js';
import { ResumeContract } from './contracts/resume-contract.js';
import { HttpClient } from './egress/http-client.js';
import { ApiDocument } from './http/openapi/api-document.js';
import { ProblemFilter } from './http/problem.filter.js';
import { RefusalLog } from './http/refusal-log.js';
import { BearerGuard } from './identity/bearer.guard.js';
import { Revocations } from './identity/revocations.js';
import { TokenVerifier } from './identity/token-verifier.js';
import { OUTBOX } from './outbox/outbox.providers.js';
import { POLICY } from './policy/policy.providers.js';
import { PolicyMetrics } from './policy/policy-metrics.js';
import { PolicyWatch } from './policy/policy-watch.js';
import { HttpConnector } from './proxy/connectors/http.connector.js';
import { Attempt } from './proxy/executor/attempt.js';
import { Breaker } from './proxy/executor/breaker.js';
import { CallRecorder } from './proxy/executor/call-recorder.js';
import { Dispatcher } from './proxy/executor/dispatcher.js';
import { Executor } from './proxy/executor/executor.worker.js';
import { CallLog } from './proxy/observe/call-log.js';
import { CallMetrics } from './proxy/observe/call-metrics.js';
import { RECONCILE } from './proxy/reconcile/reconcile.providers.js';
import { STOPPING } from './proxy/stop/stop.providers.js';
import { SWEEP } from './proxy/sweep/sweep.providers.js';
import { ResumeRules } from './proxy/sweep/resume-rules.js';
import { CallWatch } from './runtime/call-watch.js';
import { EventAccess } from './runtime/events/event-access.js';
import { EventStreams } from './runtime/events/event-streams.js';
import { GetApprovalHandler, ListApprovalsHandler } from './runtime/queries/approval.queries.js';
import { GetCommandHandler } from './runtime/queries/command.queries.js';
import { FollowEventsHandler, ListEventsHandler } from './runtime/queries/event.queries.js';
import { ListDeadLettersHandler, ListSinksHandler } from './runtime/queries/outbox.queries.js';
import { STANDING_QUERIES } from './runtime/queries/standing.providers.js';
import { RUN_QUERIES } from './runtime/queries/run.providers.js';
import { GetToolCallHandler, ListToolCallsHandler } from './runtime/queries/tool-call.query-handlers.js';
import { ApprovalViews } from './runtime/views/approval.view.js';
import { ToolCallViews } from './runtime/views/tool-call.view.js';
import { Credentials } from './secrets/credentials.js';
import { SecretSource } from './secrets/secret-reference.js';
import { StoredSecrets } from './secrets/stored-secrets.js';
import { InstanceIdentity } from './storage/instance-identity.js';
import { StoreWatch } from './storage/store-watch.js';
import { Store, type InstanceRef } from './storage/store.js';
import { UnitDesk } from './storage/units/unit-desk.js';
import { ClockWatch } from './system/clock-watch.js';
import { Clock, SystemClock } from './system/clock.js';
import { IdSource } from './system/id-source.js';
import { Logger } from './system/logger.js';
import { CONTROL } from './control/control.providers.js';
import { CONTROLLERS } from './http/controllers.js';
import { PolicyViews } from './http/policy-views.js';
import { SessionReading } from './http/session-reading.js';
import { SessionAccess } from './control/read-session/session-access.js';
import { SessionStores } from './sessions/open-session-stores.js';
import { SESSIONS } from './sessions/sessions.providers.js';
import { VersionSet } from './system/version-set.js';
import { Metrics } from './system/metrics/metrics.js';
import { RandomSource, SystemRandom } from './system/random-source.js';
import { Readiness } from './system/readiness.js';

/** What must exist before the application can be put together: settings and everything that is opened at boot. */
export interface Foundation {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly store: Store;
  readonly instance: InstanceRef;
  readonly capabilities: CapabilityRegistry;
  readonly credentials: Credentials;
  readonly stored: StoredSecrets;
  readonly secrets: SecretSource;
  readonly resumeContract: ResumeContract;
  readonly sessions: SessionStores;
  readonly versions: VersionSet;
}

const PROXY = [
  ...STOPPING,
  HttpConnector,
  CallRecorder,
  Attempt,
  Breaker,
  Dispatcher,
  Executor,
  ...RECONCILE,
  ...SWEEP,
];
const RUNTIME = [
  ApprovalViews,
  ToolCallViews,
  GetToolCallHandler,
  ListToolCallsHandler,
  GetApprovalHandler,
  ListApprovalsHandler,
  ...RUN_QUERIES,
  ...STANDING_QUERIES,
  GetCommandHandler,
  EventAccess,
  ListEventsHandler,
  FollowEventsHandler,
  ListSinksHandler,
  ListDeadLettersHandler,
];
/** What readiness and metrics say; each part registers itself. */
const OPERATIONS = [
  PolicyViews,
  SessionAccess,
  SessionReading,
  StoreWatch,
  CapabilityWatch,
  PolicyMetrics,
  PolicyWatch,
  CallMetrics,
  CallLog,
  RefusalLog,
];
/** Composition: the one place that knows every folder. */
@Module({})
export class AppModule {
  static on(foundation: Foundation): DynamicModule {
    return {
      module: AppModule,
      imports: [CqrsModule.forRoot()],
      controllers: CONTROLLERS,
      providers: [
        ...opened(foundation),
        ...derived(),
        ...OUTBOX,
        ...watches(),
        CapabilityRegistration,
        ...POLICY,
        ...SESSIONS,
        ...CONTROL,
        ...PROXY,
        ...RUNTIME,
        ...OPERATIONS,
        { provide: APP_FILTER, useClass: ProblemFilter },
        {
          provide: APP_GUARD,
          useFactory: (verifier: TokenVerifier, settings: Settings) => new BearerGuard(verifier, settings),
          inject: [TokenVerifier, Settings],
        },
      ],
    };
  }
}

function opened({
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
  versions,
}: Foundation): Provider[] {
  return [
    { provide: Settings, useValue: settings },
    { provide: Logger, useValue: logger },
    { provide: Store, useValue: store },
    { provide: InstanceIdentity, useValue: new InstanceIdentity(instance) },
    { provide: CapabilityRegistry, useValue: capabilities },
    { provide: Credentials, useValue: credentials },
    { provide: StoredSecrets, useValue: stored },
    { provide: SecretSource, useValue: secrets },
    { provide: ResumeContract, useValue: resumeContract },
    { provide: ResumeRules, useValue: resumeContract },
    { provide: SessionStores, useValue: sessions },
    { provide: VersionSet, useValue: versions },
    { provide: Clock, useClass: SystemClock },
    { provide: RandomSource, useClass: SystemRandom },
    { provide: Readiness, useValue: new Readiness() },
    { provide: Metrics, useValue: metrics },
  ];
}

/** Classes whose constructors take more than injected classes. */
function derived(): Provider[] {
  return [
    {
      provide: IdSource,
      useFactory: (clock: Clock, random: RandomSource) => new IdSource(clock, random),
      inject: [Clock, RandomSource],
    },
    {
      provide: HttpClient,
      useFactory: (settings: Settings) => new HttpClient({ connectionsPerOriginMax: settings.execution.maxInFlight }),
      inject: [Settings],
    },
    {
      provide: ExecutionSlots,
      useFactory: (clock: Clock, settings: Settings, capabilities: CapabilityRegistry) =>
        new ExecutionSlots(clock, settings.execution.maxInFlight, (name) => capabilities.get(name)?.manifest ?? null),
      inject: [Clock, Settings, CapabilityRegistry],
    },
    {
      provide: DispatchHandover,
      useFactory: (slots: ExecutionSlots) => new DispatchHandover(slots),
      inject: [ExecutionSlots],
    },
    {
      provide: UnitDesk,
      useFactory: (store: Store, ids: IdSource, clock: Clock, instance: InstanceIdentity) =>
        new UnitDesk(store, ids, clock, instance),
      inject: [Store, IdSource, Clock, InstanceIdentity],
    },
    {
      provide: CapabilityGate,
      useFactory: (registry: CapabilityRegistry, pauses: PauseBoard, slots: DispatchHandover) =>
        new CapabilityGate(registry, pauses, slots),
      inject: [CapabilityRegistry, PauseBoard, DispatchHandover],
    },
    {
      provide: PauseBoard,
      useFactory: (store: Store, registry: CapabilityRegistry) =>
        new PauseBoard(store.read, store.feed, (name) => registry.get(name)?.id),
      inject: [Store, CapabilityRegistry],
    },
    { provide: CallWatch, useFactory: (store: Store) => new CallWatch(store.feed), inject: [Store] },
    { provide: EventStreams, useFactory: (store: Store) => new EventStreams(store), inject: [Store] },
    {
      provide: TokenVerifier,
      useFactory: (settings: Settings, clock: Clock, http: HttpClient, revocations: Revocations) =>
        new TokenVerifier(settings.identity, clock, { http, revocations }),
      inject: [Settings, Clock, HttpClient, Revocations],
    },
    {
      provide: ApiDocument,
      useFactory: (settings: Settings) => new ApiDocument(CONTROLLERS, settings),
      inject: [Settings],
    },
  ];
}

function watches(): Provider[] {
  return [
    {
      provide: ClockWatch,
      useFactory: (clock: Clock, { readiness: { clockJumpMsMax, stallMsMax } }: Settings, readiness: Readiness) =>
        new ClockWatch(clock, { jumpMsMax: clockJumpMsMax, stallMsMax }, readiness),
      inject: [Clock, Settings, Readiness],
    },
  ];
}
