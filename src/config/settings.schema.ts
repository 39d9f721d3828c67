import { z } from 'zod';
import { credentialSchema } from './credential.schema.js';
import { ASYMMETRIC, providersSchema } from './identity-provider.schema.js';
import { secretReference } from './secret-reference.schema.js';
import { sinkSchema } from './sink.schema.js';

const text = z.string().min(1).max(512);
const whole = (min: number, max: number) => z.int().min(min).max(max);
const DAY_MS = 86_400_000;

const word = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

const keyReference = z.string().regex(/^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/, 'must be env:NAME or file:PATH');

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** The shape of the settings as written in YAML; paths are still relative here. */
export const settingsSchema = z.strictObject({
  installation: z.strictObject({
    name: text,
    publicUrl: z.url({ protocol: /^https?$/ }).nullable(),
    operatorTenant: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/)
      .nullable(),
    environment: z.string().regex(word),
  }),
  dataDir: text,
  http: z.strictObject({
    host: text,
    port: whole(0, 65_535),
    bodyBytesMax: whole(1024, 64 * 1024 * 1024),
    waitMsMax: whole(0, 600_000),
    connectionsMax: whole(1, 100_000),
  }),
  identity: z
    .strictObject({
      issuer: text,
      audience: text,
      algorithms: z.array(z.enum(ASYMMETRIC)).min(1),
      jwksFile: text,
      clockToleranceMs: whole(0, 300_000),
      tokenLifetimeMsMax: whole(60_000, 30 * DAY_MS),
      tokenCacheMax: whole(0, 1_000_000),
      providers: providersSchema,
    })
    .refine(
      ({ issuer, providers }) => providers.every((one) => one.issuer !== issuer),
      'providers that are not the issuer of jwksFile',
    ),
  capabilities: z.strictObject({ dir: text }),
  policy: z.strictObject({
    dir: text,
    activation: z.enum(['folder', 'approved']),
    activationDecideWithinMs: whole(60_000, 30 * DAY_MS),
    approverGroups: z.array(z.string().regex(word)).max(100),
    decideWithinMs: whole(10_000, 30 * DAY_MS),
    executionWindowMs: whole(1000, DAY_MS),
    evaluationTimeoutMs: whole(10, 60_000),
    openApprovalsPerAgentMax: whole(1, 100_000),
    grantMsMax: whole(60_000, 365 * DAY_MS),
    delegationMsMax: whole(60_000, 365 * DAY_MS),
    escalationGroups: z.array(z.string().regex(word)).max(100),
    breakGlassGroups: z.array(z.string().regex(word)).max(100),
    timeZone: text.refine(isTimeZone, 'must be the IANA name of a time zone'),
    denialMemoryMs: whole(1000, 365 * DAY_MS),
  }),
  execution: z.strictObject({
    maxInFlight: whole(1, 10_000),
    authorizedTtlMs: whole(1000, 30 * DAY_MS),
    resumeAuthorized: z.enum(['automatic', 'on_control']),
    resumeContractFile: text,
    recordSentAfterMs: whole(0, 60_000),
    sweepIntervalMs: whole(50, 600_000),
    deadlineMarginMs: whole(0, 60_000),
    breakerFailuresMax: whole(1, 1_000_000),
    resultBytesMax: whole(1024, 16 * 1024 * 1024),
  }),
  storage: z.strictObject({
    queueMax: whole(1, 1_000_000),
    unitsPerFlushMax: whole(1, 10_000),
    walBytesMax: whole(1024 * 1024, 1024 ** 4),
    checkpointIntervalMs: whole(10, 600_000),
    keyFile: text,
    keyEnv: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)
      .nullable(),
    previousKeys: z.array(keyReference).max(16),
    headFile: text.nullable(),
    backupDir: text.nullable(),
  }),
  outbox: z.strictObject({
    lagMsMax: whole(1000, 30 * DAY_MS),
    sinks: z.record(z.string().regex(word), sinkSchema),
  }),
  sessions: z.strictObject({
    backend: z.enum(['jsonl', 'database']),
    codec: z.enum(['none', 'gzip', 'zstd']),
    snapshots: z.enum(['file', 'database']),
    strictSnapshots: z.boolean(),
    writeBatchMaxDelayMs: whole(1, 60_000),
    pendingEventsMax: whole(100, 10_000_000),
    pendingBytesMax: whole(65_536, 1024 ** 3),
    openMax: whole(1, 100_000),
    idleCloseMs: whole(1000, DAY_MS),
    suspendWaitMs: whole(0, DAY_MS),
    eventBytesMax: whole(1024, 16 * 1024 * 1024),
    batchEventsMax: whole(1, 100_000),
  }),
  leases: z.strictObject({
    issuer: text.nullable(),
    activePerAgentMax: whole(1, 1_000_000),
    activePerCapabilityMax: whole(1, 1_000_000),
    activePerTenantMax: whole(1, 10_000_000),
    keyPublishMs: whole(0, 30 * DAY_MS),
    revokeTriesMax: whole(1, 1000),
    revokeBackoffMs: whole(10, 600_000),
  }),
  runs: z.strictObject({ implicitIdleMs: whole(60_000, 365 * DAY_MS), modelCancelMs: whole(100, DAY_MS) }),
  limits: z.strictObject({
    jsonDepthMax: whole(4, 128),
    jsonKeysMax: whole(16, 1_000_000),
    argumentsBytesMax: whole(256, 16 * 1024 * 1024),
    reasonBytesMax: whole(16, 65_536),
    pageMax: whole(1, 1000),
  }),
  credentials: z.record(z.string().regex(word), credentialSchema),
  callbacks: z.strictObject({
    secrets: z.record(
      z.string().regex(word),
      z.strictObject({ secret: secretReference, previousSecret: secretReference.nullable().default(null) }),
    ),
    toleranceMs: whole(1000, 3_600_000),
    bodyBytesMax: whole(256, 16 * 1024 * 1024),
    unmatchedMax: whole(1, 100_000_000),
    unmatchedForMs: whole(60_000, 3650 * DAY_MS),
  }),
  upstreams: z.record(z.string().regex(word), z.url({ protocol: /^https?$/ })),
  readiness: z.strictObject({
    probeIntervalMs: whole(50, 600_000),
    diskFreeBytesMin: whole(0, 1024 ** 5),
    clockJumpMsMax: whole(100, 86_400_000),
    stallMsMax: whole(100, 600_000),
  }),
  metrics: z.strictObject({ access: z.enum(['operator', 'loopback', 'public']) }),
  tracing: z.strictObject({
    otlpUrl: z.url({ protocol: /^https?$/ }).nullable(),
    sampleRatio: z.number().min(0).max(1),
    propagate: z.boolean(),
  }),
  log: z.strictObject({ level: z.enum(['fatal', 'error', 'warn', 'info', 'debug']) }),
  shutdownGraceMs: whole(0, 600_000),
});

export type WrittenSettings = z.infer<typeof settingsSchema>;
