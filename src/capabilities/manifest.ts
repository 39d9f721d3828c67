import type { KnownEffect } from '../domain/events/catalogue.js';
import type { JsonObject, JsonValue } from '../domain/json/json-value.js';
import type { LeaseMode, TrustLevel } from '../domain/lease/lease.state.js';
import type { Effect, Risk } from '../domain/tool-call/tool-call.state.js';
import type { PreconditionRule } from '../policy/core/precondition.js';
import type { ArgumentSchema, ResultSchema } from './argument-schema.js';

/**
 * A request to the tool, declared by the operator. `{args.…}` and `{downstreamKey}` and `{externalRequestId}` are the
 * only things that vary; they may stand in the path, the query and the body, percent-encoded or JSON-encoded for their
 * place. Agents can set neither hosts nor headers.
 */
export interface RequestTemplate {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path below the connector's base URL; each `{…}` fills exactly one path segment. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Fixed headers and `{downstreamKey}`; never arguments. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * JSON in which a text that is one `{args.…}` becomes the argument's value and `"{args}"` all effective arguments; a field whose argument
   * is absent is left out. Null: no body.
   */
  readonly body: JsonValue | null;
}

export interface HttpConnector {
  readonly kind: 'http';
  /** Origin and optional base path. */
  readonly baseUrl: string;
  /** CIDRs and address classes allowed after name resolution besides public addresses. */
  readonly allowAddresses: readonly string[];
  /** Name of an entry of `credentials` in the settings; null when the tool needs none. */
  readonly credential: string | null;
  readonly request: RequestTemplate;
  readonly responseBytesMax: number;
}

/** How to look the effect up with a read-only request. */
export interface Probe {
  readonly strategy: 'query_by_idempotency_key' | 'query_by_external_id';
  readonly request: RequestTemplate;
  /** JSON pointer to the list of found effects, or to the effect itself; absent value or empty list means not found. */
  readonly foundAt: string;
  /** JSON pointer inside the found effect to its state; empty means: found is happened. */
  readonly statusAt: string | null;
  readonly happenedWhen: readonly string[];
  readonly failedWhen: readonly string[];
  readonly pendingWhen: readonly string[];
  /** JSON pointer inside the found effect to the provider's reference. */
  readonly referenceAt: string | null;
  /** Milliseconds the provider may take to show an effect. */
  readonly visibilityDelayMs: number;
  /** True when not finding the effect after deadline + quiesce + visibility delay proves that it did not happen. */
  readonly absenceIsProof: boolean;
  readonly attemptsMax: number;
  readonly budgetMs: number;
  /** Name of a credential that can only read; null: the connector's own. */
  readonly credential: string | null;
}

/** How the tool tells a late result of its own accord: a signed request to us. */
export interface CallbackSource {
  /** Name of an entry of `callbacks.secrets` in the settings. */
  readonly secret: string;
  /** JSON pointer in the body to the word that says what happened. */
  readonly statusAt: string;
  readonly happenedWhen: readonly string[];
  readonly failedWhen: readonly string[];
  readonly pendingWhen: readonly string[];
  /** JSON pointer to the effect, which becomes the result. */
  readonly effectAt: string;
  /** JSON pointer to the provider's reference; null: it tells none. */
  readonly referenceAt: string | null;
  /** JSON pointer to our key; null: it does not repeat it. */
  readonly keyAt: string | null;
  /** Milliseconds after the attempt's deadline and quiesce for which a callback is waited for. */
  readonly budgetMs: number;
}

/** How to ask the tool to stop what it has taken on. Sent at most once per attempt; only a definitive answer counts. */
export interface Cancel {
  /** What names the call to the tool: the key it received, or its own reference once it has told one. */
  readonly by: 'idempotency_key' | 'external_id';
  readonly request: RequestTemplate;
  /** Statuses that say: it is cancelled, if the body does not say otherwise. */
  readonly cancelledStatus: readonly number[];
  /** Statuses that say: it cannot be cancelled any more. */
  readonly refusedStatus: readonly number[];
  /** JSON pointer to a word of the answer that decides; null: the status decides. */
  readonly statusAt: string | null;
  readonly cancelledWhen: readonly string[];
  readonly refusedWhen: readonly string[];
  /** What a confirmed cancellation leaves behind. */
  readonly effect: KnownEffect;
  /** Milliseconds the tool has to answer. */
  readonly timeoutMs: number;
}

/** Where an argument of the compensating call comes from: a fixed value, or a pointer into what is on record. */
export type CompensationArgument =
  | { readonly from: 'arguments' | 'result'; readonly at: string }
  | { readonly from: 'downstreamKey' | 'externalRequestId' | 'toolCallId' }
  | { readonly value: JsonValue };

/** The governed action that undoes this one: a call of its own, judged and approved like any other. */
export interface Compensation {
  /** Name of a capability in force. */
  readonly capability: string;
  readonly arguments: Readonly<Record<string, CompensationArgument>>;
}

/** What shows that the world is as the call wanted it, and who may say so. The tool's own answer never does. */
export interface SuccessCriteria {
  readonly criteria: string;
  readonly version: string;
  /** Milliseconds after which a verification without a verdict is inconclusive. */
  readonly withinMs: number;
  /** Kinds of evidence that must all be there. */
  readonly needs: readonly string[];
  readonly sources: readonly FeedbackSource[];
}

export interface FeedbackSource {
  /** `sub` of the source's own token. */
  readonly subject: string;
  /** The kinds of evidence it may give. */
  readonly evidence: readonly string[];
  /** May contradict what was confirmed. */
  readonly authoritative: boolean;
}

/** What a lease of a call may allow; the policy can only make it less. */
export interface LeaseOffer {
  /** `inject`: the proxy adds the credential. `sign_on_behalf`: it signs. `token`: it hands on a scoped token. */
  readonly mode: LeaseMode;
  readonly scopes: readonly string[];
  /** Whom a token is for; null in the other modes where nobody is named. */
  readonly audience: string | null;
  readonly ttlMs: number;
  readonly ttlMsMax: number;
  readonly maxUses: number;
  /** Milliseconds from the first lease of an attempt to the end of the last renewal; null: none is renewed. */
  readonly renewableForMs: number | null;
  /** The header that carries a token; null: `Authorization: Bearer`. */
  readonly header: string | null;
}

/** Where a call is carried out and how far that place is trusted: recorded with every lease. */
export interface ExecutionEnvironment {
  readonly environmentId: string;
  readonly sandboxTrustLevel: TrustLevel;
  readonly networkPolicy: { readonly allowHosts: readonly string[] };
  readonly dataAccessPolicy: { readonly access: 'none' | 'read' | 'write'; readonly resources: readonly string[] };
}

/** One value of the world that a call rests on: read with a plain GET before people are asked, before a grant and before sending. */
export interface Precondition extends PreconditionRule {
  readonly request: RequestTemplate;
  /** Name of an entry of `credentials`; null: none is sent. Never the connector's by itself. */
  readonly credential: string | null;
  /** JSON pointer into the answer. */
  readonly at: string;
  readonly timeoutMs: number;
}

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject | null;
  readonly risk: Risk;
  readonly effect: Effect;
  readonly connector: HttpConnector;
  readonly idempotency: {
    /** The header that carries our key; null: none does. `replay_by_key` and a probe by key need one place at least. */
    readonly header: string | null;
    /** The top-level field of the body that carries our key; null: none does. */
    readonly argument: string | null;
    readonly keyLengthMax: number;
    /** Milliseconds the provider remembers a key; null when it says nothing. */
    readonly keyRetentionMs: number | null;
    /** Template of the caller's key, such as `refund:{args.orderId}:{intentId}`; null: the caller sends it. */
    readonly callerKeyTemplate: string | null;
    /** True: the provider's contract allows to ask by sending the identical request again, inside its retention. */
    readonly replayAsProbe: boolean;
  };
  readonly probe: Probe | null;
  readonly callback: CallbackSource | null;
  /** Lines of statements can settle it; `budgetMs` as for callbacks. Null: they cannot. */
  readonly statement: { readonly budgetMs: number } | null;
  /** How many different operators must find the same before a handoff is resolved. */
  readonly resolvers: number;
  /** Null: what was sent cannot be stopped. */
  readonly cancel: Cancel | null;
  /** Null: nothing here undoes it. */
  readonly compensation: Compensation | null;
  readonly definitiveStatus: readonly number[];
  readonly rejectedBeforeExecutionStatus: readonly number[];
  /** Declared pending answer: statuses and the JSON pointer of the provider's reference. */
  readonly pending: { readonly status: readonly number[]; readonly referenceAt: string } | null;
  readonly timeoutMs: number;
  readonly quiesceMs: number;
  readonly onAmbiguous: 'reconcile' | 'handoff';
  readonly lateResult: 'callback' | 'poll' | 'none';
  readonly retryRejected: boolean;
  /** JSON pointers of arguments that are never shown or recorded in clear; `*` matches every item. */
  readonly redact: readonly string[];
  /** JSON pointers of arguments that hold personal data. */
  readonly personal: readonly string[];
  readonly concurrency: number;
  readonly ratePerSecond: number | null;
  /** Absent: nothing is verified and the outcome of a call stays `not_observed`. */
  readonly success?: SuccessCriteria;
  /** Absent: calls run without leases. */
  readonly lease?: LeaseOffer;
  /** Present wherever `lease` is. */
  readonly execution?: ExecutionEnvironment;
  /** Absent: a call rests on nothing but policy and people. */
  readonly preconditions?: readonly Precondition[];
}

/** A manifest in force: validated, pinned by the digest of its definition, with its compiled schemas. */
export interface Capability {
  readonly manifest: Manifest;
  /** `name@version`. */
  readonly id: string;
  /** Over the canonical manifest, upstream address and description included: equal however the file orders or spells it. */
  readonly manifestDigest: string;
  readonly input: ArgumentSchema;
  /** Null when the manifest declares no output. */
  readonly output: ResultSchema | null;
}

/** Evidence of its effects may come from outside, by callback or statement, and names them by our key or the tool's reference. */
export function takesLateEvidence({ manifest }: Pick<Capability, 'manifest'>): boolean {
  return manifest.callback !== null || manifest.statement !== null;
}
