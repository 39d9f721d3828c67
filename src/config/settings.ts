interface AnySinkSettings {
  /** Event types, or beginnings of them (`approval.*`); null: the default of the kind. */
  readonly types: readonly string[] | null;
  /** Where a sink that is new begins. */
  readonly from: 'now' | 'beginning';
  readonly backoffMs: number;
  readonly backoffMsMax: number;
  /** Refusals after which an event is offered no more. */
  readonly maxTries: number;
}

export interface WebhookSettings extends AnySinkSettings {
  readonly kind: 'webhook';
  readonly url: string;
  /** References to signing secrets; several while they rotate. */
  readonly secrets: readonly string[];
  readonly allowAddresses: readonly string[];
  readonly timeoutMs: number;
  readonly concurrency: number;
}

export interface FileSinkSettings extends AnySinkSettings {
  readonly kind: 'file';
  /** Absolute. */
  readonly path: string;
}

export interface ChatSettings extends AnySinkSettings {
  readonly kind: 'chat';
  /** Reference to the address: whoever knows it can post. */
  readonly url: string;
  readonly allowAddresses: readonly string[];
  readonly timeoutMs: number;
}

export type SinkSettings = WebhookSettings | FileSinkSettings | ChatSettings;

/** How a credential travels to the tool. */
interface CarriedSettings {
  readonly header: string;
  readonly scheme: string | null;
}

/** A secret that stays as it is. */
export interface StaticCredentialSettings extends CarriedSettings {
  readonly kind?: 'static';
  readonly secret: string;
}

interface FetchedSettings extends CarriedSettings {
  /** Exactly one of the two is set. */
  readonly tokenUrl: string | null;
  readonly issuer: string | null;
  readonly revocationUrl: string | null;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly clientAuth: 'basic' | 'post';
  readonly scope: string | null;
  readonly audience: string | null;
  readonly resource: string | null;
  readonly allowAddresses: readonly string[];
  readonly timeoutMs: number;
}

/** RFC 6749 section 4.4. */
export interface ClientCredentialsSettings extends FetchedSettings {
  readonly kind: 'oauth_client_credentials';
}

/** RFC 8693. */
export interface TokenExchangeSettings extends FetchedSettings {
  readonly kind: 'token_exchange';
  readonly subjectToken: string;
  readonly subjectTokenType: string;
  readonly actorToken: string | null;
  readonly actorTokenType: string;
}

/** A credential that an authorization server gives, for a time. */
export type FetchedCredentialSettings = ClientCredentialsSettings | TokenExchangeSettings;

export type CredentialSettings = StaticCredentialSettings | FetchedCredentialSettings;

/** Where people come from by OpenID Connect; `config/default.yaml` says what each means. */
export interface IdentityProviderSettings {
  readonly name: string;
  readonly issuer: string;
  readonly audience: string;
  readonly algorithms: readonly string[];
  readonly jwksUri: string | null;
  readonly tokens: 'access' | 'id';
  readonly rolesClaim: string | null;
  readonly rolesByGroup: Readonly<Record<string, readonly string[]>>;
  readonly groupsClaim: string | null;
  readonly groups: Readonly<Record<string, string>> | null;
  readonly tenant: string | null;
  readonly tenantClaim: string | null;
  readonly subjectPrefix: string | null;
  readonly allowAddresses: readonly string[];
  readonly timeoutMs: number;
  readonly cooldownMs: number;
  readonly cacheMaxAgeMs: number;
}

/** Durable sessions; `config/default.yaml` says what each means. */
export interface SessionSettings {
  readonly backend: 'jsonl' | 'database';
  readonly codec: 'none' | 'gzip' | 'zstd';
  readonly snapshots: 'file' | 'database';
  readonly strictSnapshots: boolean;
  readonly writeBatchMaxDelayMs: number;
  readonly pendingEventsMax: number;
  readonly pendingBytesMax: number;
  readonly openMax: number;
  readonly idleCloseMs: number;
  readonly suspendWaitMs: number;
  readonly eventBytesMax: number;
  readonly batchEventsMax: number;
}

/**
 * The settings, parsed once, frozen, typed. `config/default.yaml` documents every one with its unit and reason.
 * Names of durations end in `Ms`, sizes in `BytesMax` or `Max`. A class, so that it can be injected.
 */
export abstract class Settings {
  abstract readonly installation: {
    readonly name: string;
    readonly publicUrl: string | null;
    /** Tenant whose operators may act on the whole installation; null: nobody may over HTTP. */
    readonly operatorTenant: string | null;
    /** What policies read as `context.environment`. */
    readonly environment: string;
  };
  /** Everything durable lives below this directory (absolute). */
  abstract readonly dataDir: string;
  abstract readonly http: {
    readonly host: string;
    readonly port: number;
    readonly bodyBytesMax: number;
    readonly waitMsMax: number;
    readonly connectionsMax: number;
  };
  abstract readonly identity: {
    readonly issuer: string;
    readonly audience: string;
    /** Asymmetric algorithms only. */
    readonly algorithms: readonly string[];
    /** Absolute path of a local JWK set. */
    readonly jwksFile: string;
    readonly clockToleranceMs: number;
    readonly tokenLifetimeMsMax: number;
    readonly tokenCacheMax: number;
    /** Where people come from besides the issuer of `jwksFile`. */
    readonly providers: readonly IdentityProviderSettings[];
  };
  /** Absolute path of the folder of capability manifests (`*.yaml`). */
  abstract readonly capabilities: { readonly dir: string };
  abstract readonly policy: {
    /** Absolute path of the folder of `*.cedar` files. */
    readonly dir: string;
    /** Whether the folder comes into force by itself, or a proposal that a second operator allows. */
    readonly activation: 'folder' | 'approved';
    readonly activationDecideWithinMs: number;
    /** Groups whose members may be asked; each is a fact `context.approvals["name"]`. */
    readonly approverGroups: readonly string[];
    readonly decideWithinMs: number;
    readonly executionWindowMs: number;
    readonly evaluationTimeoutMs: number;
    readonly openApprovalsPerAgentMax: number;
    readonly grantMsMax: number;
    readonly delegationMsMax: number;
    /** Groups that an approver may have asked as well about any question; others only where its policy names them. */
    readonly escalationGroups: readonly string[];
    /** Groups (of the `groups` claim) whose members may let a call pass alone in an emergency. */
    readonly breakGlassGroups: readonly string[];
    /** IANA name: the zone of `context.time`. */
    readonly timeZone: string;
    /** How long a denial counts in `context.previousDenials`. */
    readonly denialMemoryMs: number;
  };
  abstract readonly execution: {
    readonly maxInFlight: number;
    readonly authorizedTtlMs: number;
    readonly resumeAuthorized: 'automatic' | 'on_control';
    /** Absolute path of the Resume Contract. */
    readonly resumeContractFile: string;
    readonly recordSentAfterMs: number;
    readonly sweepIntervalMs: number;
    readonly deadlineMarginMs: number;
    readonly breakerFailuresMax: number;
    readonly resultBytesMax: number;
  };
  abstract readonly storage: {
    readonly queueMax: number;
    readonly unitsPerFlushMax: number;
    readonly walBytesMax: number;
    readonly checkpointIntervalMs: number;
    /** Absolute path of the key-encryption key. */
    readonly keyFile: string;
    /** Variable with the base64 of the key-encryption key, in place of the file; null: the file. For development. */
    readonly keyEnv: string | null;
    /** Key-encryption keys before the current one, as `file:PATH` or `env:NAME`: they only unwrap. */
    readonly previousKeys: readonly string[];
    /** Absolute path of the note of the store's head; null keeps it beside the database. */
    readonly headFile: string | null;
    /** Absolute path of the directory that backups of the running server go to; null is `backups` in the data directory. */
    readonly backupDir: string | null;
  };
  abstract readonly outbox: {
    readonly lagMsMax: number;
    /** By name. Sinks come from the settings alone: nobody can add one over HTTP. */
    readonly sinks: Readonly<Record<string, SinkSettings>>;
  };
  abstract readonly sessions: SessionSettings;
  abstract readonly leases: {
    /** `iss` of lease tokens; null: the public URL, else the installation's name. */
    readonly issuer: string | null;
    readonly activePerAgentMax: number;
    readonly activePerCapabilityMax: number;
    readonly activePerTenantMax: number;
    readonly keyPublishMs: number;
    readonly revokeTriesMax: number;
    readonly revokeBackoffMs: number;
  };
  abstract readonly runs: { readonly implicitIdleMs: number; readonly modelCancelMs: number };
  abstract readonly limits: {
    readonly jsonDepthMax: number;
    readonly jsonKeysMax: number;
    readonly argumentsBytesMax: number;
    readonly reasonBytesMax: number;
    readonly pageMax: number;
  };
  /** Upstream credentials by name: a secret reference and the header that carries it. */
  abstract readonly credentials: Readonly<Record<string, CredentialSettings>>;
  /** Signed requests in which tools tell late results. */
  abstract readonly callbacks: {
    /** By the name a manifest uses: a secret reference, and the one before it while a rotation lasts. */
    readonly secrets: Readonly<Record<string, { readonly secret: string; readonly previousSecret: string | null }>>;
    /** How far the time of a signature may be from ours. */
    readonly toleranceMs: number;
    readonly bodyBytesMax: number;
    /** Most pieces of evidence that are kept although no call is known for them. */
    readonly unmatchedMax: number;
    /** How long each of them waits for its call. */
    readonly unmatchedForMs: number;
  };
  /** Base URLs by name, so that a manifest may say `upstream:NAME`. */
  abstract readonly upstreams: Readonly<Record<string, string>>;
  abstract readonly readiness: {
    readonly probeIntervalMs: number;
    readonly diskFreeBytesMin: number;
    readonly clockJumpMsMax: number;
    readonly stallMsMax: number;
  };
  abstract readonly metrics: { readonly access: 'operator' | 'loopback' | 'public' };
  abstract readonly tracing: {
    /** Where traces go (OTLP over HTTP, JSON); null: nothing is traced. */
    readonly otlpUrl: string | null;
    readonly sampleRatio: number;
    readonly propagate: boolean;
  };
  abstract readonly log: { readonly level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' };
  abstract readonly shutdownGraceMs: number;
}
