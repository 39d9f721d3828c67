import { performance } from 'node:perf_hooks';
import { resolveWithSystem, type Resolver } from './checked-connector.js';
import { Connection } from './connection.js';
import { ConnectionPool } from './connection-pool.js';
import { Exchange } from './exchange.js';
import { checkHeaders } from './header-policy.js';
import type { NoResponseCause, OutboundRequest, OutboundResult, RequestProblem } from './outbound-request.js';
import { parseRequestTarget, type RequestTarget } from './request-target.js';

export interface HttpClientOptions {
  /** Connections to one origin under one allow list; requests beyond that wait. Default 64. */
  readonly connectionsPerOriginMax?: number;
  /** How long one attempt to connect, TLS included, may take. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** How long an idle connection is kept; a peer's shorter hint wins. Default 4 s. */
  readonly keepAliveMs?: number;
  /** Bytes of a response's header section. Default 32 KiB. */
  readonly responseHeaderBytesMax?: number;
  /** Certificate authorities in PEM that are trusted instead of the system's. */
  readonly ca?: string;
  /** Default: the system resolver. */
  readonly resolve?: Resolver;
  /** Monotonic milliseconds. Default: `performance.now()`. */
  readonly now?: () => number;
  /** Milliseconds since 1970. Default: `Date.now()`. */
  readonly wallNow?: () => number;
}

/** No CONNECT and no TRACE (RFC 9110 section 9.3): the one opens a tunnel, the other echoes credentials. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const METHODS_WITHOUT_BODY: ReadonlySet<string> = new Set(['GET', 'HEAD']);

const OURS = { 'accept-encoding': 'identity' };

interface Prepared {
  readonly target: RequestTarget;
  readonly headers: Readonly<Record<string, string>>;
}

interface PlaceInPool {
  connection?: Connection;
  leaveQueue?: () => void;
}

/**
 * The only way out over HTTP. Sends a request at most once: no retry, no redirect, no pipelining, no decompression, TLS always verified.
 * Speaks HTTP/1.1, because there a request is on the wire or is not; a stream of HTTP/2 can be refused after it was sent.
 */
export class HttpClient {
  private readonly pools = new Map<string, ConnectionPool>();
  private readonly exchanges = new Set<Exchange>();
  private readonly now: () => number;
  private isClosing = false;
  private readonly onIdle: (() => void)[] = [];

  constructor(private readonly options: HttpClientOptions = {}) {
    this.now = options.now ?? (() => performance.now());
  }

  /**
   * Never rejects: whatever happens is an `OutboundResult`, and `evidence.bytesWritten` says whether the request may have arrived.
   * A body must not be changed before the promise settles.
   */
  send(request: OutboundRequest): Promise<OutboundResult> {
    const prepared = prepare(request);
    if (typeof prepared === 'string') return Promise.resolve(this.notSent('request_invalid', prepared));
    if (this.isClosing) return Promise.resolve(this.notSent('aborted'));
    return this.exchange(request, prepared);
  }

  /** Takes no more requests, waits for those in flight (each has its own deadline), then closes every connection. */
  async close(): Promise<void> {
    this.isClosing = true;
    if (this.exchanges.size > 0) await new Promise<void>((resolve) => this.onIdle.push(resolve));
    for (const pool of this.pools.values()) pool.close();
  }

  /** Takes no more requests and gives up those in flight with cause `aborted`; what was written stays written. */
  async destroy(): Promise<void> {
    this.isClosing = true;
    for (const exchange of this.exchanges) exchange.abandon('aborted');
    await this.close();
  }

  private exchange(request: OutboundRequest, { target, headers }: Prepared): Promise<OutboundResult> {
    const pool = this.poolFor(target, request.allowAddresses);
    return new Promise((resolve) => {
      const place: PlaceInPool = {};
      const exchange = new Exchange({
        request,
        headers,
        path: target.path,
        now: this.now,
        wallNow: this.options.wallNow ?? Date.now,
        onSettled: (result) => {
          this.exchanges.delete(exchange);
          place.leaveQueue?.();
          // Not before the parser has seen all that was read: bytes beyond the response must end the connection, not answer the next.
          queueMicrotask(() => {
            if (place.connection !== undefined) pool.takeBack(place.connection);
            if (this.exchanges.size === 0) for (const wake of this.onIdle.splice(0)) wake();
            resolve(result);
          });
        },
      });
      this.exchanges.add(exchange);
      place.leaveQueue = pool.lend((connection) => {
        place.connection = connection;
        exchange.begin(connection);
      });
    });
  }

  /** The allow list is part of the key: a connection opened under one list is never used under another. */
  private poolFor(target: RequestTarget, allowAddresses: readonly string[]): ConnectionPool {
    const key = JSON.stringify([target.origin, ...new Set(allowAddresses.toSorted())]);
    const existing = this.pools.get(key);
    if (existing !== undefined) return existing;
    const { options } = this;
    const pool = new ConnectionPool(
      options.connectionsPerOriginMax ?? 64,
      (onDisconnected) =>
        new Connection({
          origin: target.origin,
          allowAddresses: [...allowAddresses],
          resolve: options.resolve ?? resolveWithSystem,
          connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
          keepAliveMs: options.keepAliveMs ?? 4_000,
          responseHeaderBytesMax: options.responseHeaderBytesMax ?? 32_768,
          ...(options.ca === undefined ? {} : { ca: options.ca }),
          onDisconnected,
        }),
      () => this.pools.delete(key),
    );
    this.pools.set(key, pool);
    return pool;
  }

  private notSent(cause: NoResponseCause, problem?: RequestProblem): OutboundResult {
    const now = this.now();
    return {
      kind: 'no_response',
      cause,
      ...(problem === undefined ? {} : { problem }),
      evidence: { bytesWritten: false, headersFlushed: false, startedAtMs: now, endedAtMs: now },
    };
  }
}

function prepare(request: OutboundRequest): Prepared | RequestProblem {
  const { method, body, responseBytesMax, sendBeforeMonotonicMs, deadlineMonotonicMs } = request;
  if (!METHODS.has(method)) return 'method';
  if (body !== undefined && METHODS_WITHOUT_BODY.has(method)) return 'body';
  if (!Number.isSafeInteger(responseBytesMax) || responseBytesMax < 0) return 'limits';
  if (Number.isNaN(sendBeforeMonotonicMs) || Number.isNaN(deadlineMonotonicMs)) return 'limits';
  const parsed = parseRequestTarget(request.url);
  if (!parsed.ok) return parsed.problem;
  const checked = checkHeaders(request.headers, request.credentialHeaders);
  if (!checked.ok) return checked.problem;
  const { traceparent } = request;
  const ours = traceparent === undefined ? OURS : { ...OURS, traceparent };
  return { target: parsed.target, headers: { ...checked.headers, ...ours } };
}
