import type {
  HandoffFinding,
  KnownEffect,
  NotExecutedReason,
  ReconciliationStrategy,
  UnknownCause,
} from '../events/catalogue.js';
import type { Principal } from '../principal.js';

export const TOOL_CALL_STATUSES = [
  'proposed',
  'authorized',
  'dispatching',
  'dispatched',
  'accepted',
  'result_unknown',
  'reconciling',
  'completed',
  'failed',
  'manual_handoff',
  'denied',
  'not_executed',
] as const;
export type ToolCallStatus = (typeof TOOL_CALL_STATUSES)[number];

/** `manual_handoff` is terminal for execution; its resolution is a field of its own. */
export const TERMINAL_STATUSES = ['completed', 'failed', 'manual_handoff', 'denied', 'not_executed'] as const;
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

export function isTerminal(status: ToolCallStatus): status is TerminalStatus {
  return TERMINAL_STATUSES.some((terminal) => terminal === status);
}

export const EFFECTS = ['read_only', 'idempotent', 'replay_by_key', 'probeable', 'opaque'] as const;
export type Effect = (typeof EFFECTS)[number];

export const RISKS = ['low', 'medium', 'high', 'critical'] as const;
export type Risk = (typeof RISKS)[number];

/** What stays the same for the life of a call, from `tool.call.proposed`. */
export interface ToolCallIdentity {
  readonly capability: string;
  readonly capabilityVersion: string;
  readonly manifestDigest: string;
  readonly effect: Effect;
  readonly risk: Risk;
  readonly principal: Principal;
  readonly argsDigest: string;
  readonly intentDigest: string;
  /** The idempotency key the tool receives: derived from the tool call id, the same bytes for every attempt. */
  readonly downstreamKey: string;
  /** ISO 8601; never send at or after this time. Null when the caller set none. */
  readonly executeBefore: string | null;
  /** The call whose effect this one is meant to undo. */
  readonly compensates: string | null;
}

/** What a call takes of one budget. Recorded with the decision that allowed it, so that every counter can be summed up again. */
export interface Reservation {
  /** Names the counter: its window, its name, and what it is counted by. */
  readonly key: string;
  /** A safe integer, 0 or more. */
  readonly add: number;
  /** Most that the counter may hold with this call's own part. */
  readonly max: number;
}

/** What every status has. */
export interface ToolCallLife extends ToolCallIdentity {
  /** From 1; a retry on proof of no effect increments it. */
  readonly attempt: number;
  /** Cancellation has been asked of the tool and is not answered yet. */
  readonly cancellationRequested: boolean;
  /** ISO 8601: until when the tool may answer the cancellation; null while none is asked for. */
  readonly cancelBy: string | null;
  /** Why it is on record that nobody can stop the present attempt any more; null while nothing says so. */
  readonly irreversible: string | null;
  /** The call that was proposed to undo this one. */
  readonly compensatedBy: string | null;
  /** The provider's reference, once anything has told it. */
  readonly externalRequestId: string | null;
  /** Evidence says otherwise than the end of the call: no proof of no effect counts any more. */
  readonly contradicted: boolean;
  /** What the newest decision took of budgets; `heldReservations` says what of it still counts. Null where nothing limits the call. */
  readonly reserved: readonly Reservation[] | null;
}

/** What is known of the carrying-out of the current attempt. */
export interface Carrying {
  readonly nonce: string;
  readonly fence: number;
  readonly owner: string;
  readonly ownerEpoch: number;
  /** ISO 8601: nothing of this attempt may be on the wire at or after this time. */
  readonly deadline: string;
}

export interface Resolution {
  readonly finding: HandoffFinding;
  readonly evidenceRefs: readonly string[];
}

/** A tool call: a union on `status`, so impossible states do not compile. */
export type ToolCallState = ToolCallLife &
  (
    | { readonly status: 'proposed' }
    | { readonly status: 'authorized'; readonly basis: 'policy' | 'approval'; readonly executeBy: string }
    | ({ readonly status: 'dispatching' | 'dispatched' | 'accepted' } & Carrying)
    | ({ readonly status: 'result_unknown'; readonly cause: UnknownCause } & Carrying)
    | ({
        readonly status: 'reconciling';
        readonly cause: UnknownCause;
        readonly strategy: ReconciliationStrategy;
        readonly reconciliationDeadline: string;
        readonly queries: number;
        readonly nextQueryAt: string | null;
      } & Carrying)
    | { readonly status: 'completed'; readonly resultBasis: 'direct' | 'callback' | 'reconciliation' }
    | {
        readonly status: 'failed';
        readonly code: string;
        readonly knownEffect: KnownEffect;
        /** False only when trying again can give nothing else: the manifest says `retryRejected: false`. */
        readonly retryable: boolean;
      }
    | { readonly status: 'manual_handoff'; readonly handoffId: string | null; readonly resolution: Resolution | null }
    | { readonly status: 'denied'; readonly deniedBy: DenialBasis }
    | { readonly status: 'not_executed'; readonly reason: NotExecutedReason }
  );

/** Who or what refused: the policy, people, the policy of a later moment, or the world, which is not as the manifest expects. */
export type DenialBasis = 'policy' | 'approval' | 'policy_at_dispatch' | 'precondition' | 'refusal';

/** The state of a call with one status. */
export type ToolCallIn<S extends ToolCallStatus> = ToolCallState & { readonly status: S };
