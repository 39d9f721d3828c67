import type { HeaderProblem } from './header-policy.js';
import type { TargetProblem } from './request-target.js';

/** One request, to be sent at most once. Times are milliseconds of the monotonic clock (`performance.now()`). */
export interface OutboundRequest {
  readonly method: string;
  /** Absolute; see `parseRequestTarget` for what is refused. */
  readonly url: string;
  /** From a manifest's template; see `checkHeaders`. */
  readonly headers: Readonly<Record<string, string>>;
  /** From a lease or secret: the only place `authorization` and `cookie` may come from. */
  readonly credentialHeaders?: Readonly<Record<string, string>>;
  /** The proxy's own `traceparent`; no template and no credential may be one. */
  readonly traceparent?: string;
  readonly body?: Uint8Array;
  /** What beside public addresses may be connected to; see `isAddressAllowed`. */
  readonly allowAddresses: readonly string[];
  /** Checked in the same synchronous step as the first write: at or past it nothing is sent. */
  readonly sendBeforeMonotonicMs: number;
  /** At this moment the connection is torn down, whatever has come by then. */
  readonly deadlineMonotonicMs: number;
  readonly responseBytesMax: number;
  /** Called once, right after the request was given to the socket; never called when nothing was written. */
  readonly onHandedToTransport?: () => void;
}

export type RequestProblem = TargetProblem | HeaderProblem | 'method' | 'body' | 'limits';

export type NoResponseCause =
  | 'not_sent_deadline'
  | 'address_refused'
  | 'resolve_failed'
  | 'connect_failed'
  | 'tls_failed'
  | 'reset'
  | 'timeout'
  | 'aborted'
  | 'bad_framing'
  | 'body_incomplete'
  | 'request_invalid'
  | 'credential_unavailable';

export interface TransportEvidence {
  /** True as soon as any byte of the request may have been handed to the kernel; false is proof that none was. */
  readonly bytesWritten: boolean;
  /** True only when the whole request head is known to have left the process; false proves nothing. */
  readonly headersFlushed: boolean;
  readonly connectedAddress?: string;
  /** Monotonic milliseconds. */
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** Bytes of the response body that were received, once a response had begun. */
  readonly bodyBytes?: number;
}

export interface ResponseResult {
  readonly kind: 'response';
  readonly status: number;
  /** Names in lower case; repeated fields joined with `, ` (RFC 9110 section 5.3). */
  readonly headers: Readonly<Record<string, string>>;
  /** As received, not decoded; at most `responseBytesMax` bytes. */
  readonly body: Uint8Array;
  /** True when the body went on past `responseBytesMax`; the rest was not read. */
  readonly bodyTruncated: boolean;
  readonly evidence: TransportEvidence;
}

export interface NoResponseResult {
  readonly kind: 'no_response';
  readonly cause: NoResponseCause;
  /** What was wrong, where the cause is `request_invalid`. */
  readonly problem?: RequestProblem;
  readonly evidence: TransportEvidence;
}

export type OutboundResult = ResponseResult | NoResponseResult;
