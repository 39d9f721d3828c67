import type { Dispatcher } from 'undici';
import { reached } from '../system/crash-points.js';
import { after, type Timer } from '../system/timers.js';
import { BoundedBody } from './bounded-body.js';
import type { Connection } from './connection.js';
import { EgressFailure } from './egress-failure.js';
import { causeOf } from './no-response-cause.js';
import type { NoResponseCause, OutboundRequest, OutboundResult, TransportEvidence } from './outbound-request.js';

export interface ExchangeOptions {
  readonly request: OutboundRequest;
  /** As they go out: checked, complete. */
  readonly headers: Readonly<Record<string, string>>;
  readonly path: string;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  /** Called once, in the same step in which the outcome is known; the connection may still be reading. */
  readonly onSettled: (result: OutboundResult) => void;
}

interface ResponseHead {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

/** How far the wall clock may run ahead of the monotonic one before that is taken as sleep; less is a clock being set right. */
const SLEEP_MS_MIN = 1000;

/** Complete with their headers, whatever length those announce (RFC 9112 section 6.3, rule 1); undici would miss the body. */
const BODILESS: ReadonlySet<number> = new Set([204, 304]);

/**
 * One request on its way, from the queue to its answer. undici calls `onRequestStart` in the same synchronous step in which it writes
 * the request, and writes nothing when it is aborted there. That makes it the gate: the clock is checked, a second write of the same
 * request is refused, and from the moment the gate is passed `bytesWritten` is true.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  private readonly startedAtMs: number;
  private readonly wallStartedAtMs: number;
  private readonly body: BoundedBody;
  private timer: Timer | undefined;
  private connection: Connection | undefined;
  private head: ResponseHead | undefined;
  private isWritten = false;
  private isHeadFlushed = false;
  private isSettled = false;

  constructor(private readonly options: ExchangeOptions) {
    this.startedAtMs = options.now();
    this.wallStartedAtMs = options.wallNow();
    this.body = new BoundedBody(options.request.responseBytesMax);
    this.armTimer();
  }

  /** Gives the request to undici. When it was given up while it waited for a connection, nothing happens. */
  begin(connection: Connection): void {
    if (this.isSettled) return;
    this.connection = connection;
    const { method, body } = this.options.request;
    connection.dispatch(
      {
        method,
        path: this.options.path,
        headers: { ...this.options.headers },
        ...(body === undefined ? {} : { body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }),
      },
      this,
    );
  }

  /** Gives the request up, wherever it is. */
  abandon(cause: NoResponseCause): void {
    if (this.connection?.isFlushed === true && this.isWritten) this.isHeadFlushed = true;
    this.settleWithout(cause);
    this.connection?.kill();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.isWritten) this.settleWithout('reset');
    else if (this.options.now() + this.sleptMs() >= this.sendLimitMs()) this.settleWithout('not_sent_deadline');
    if (this.isSettled) {
      controller.abort(new EgressFailure('aborted'));
      return;
    }
    reached('egress.before-write', this.options.request);
    this.isWritten = true;
    // Runs after the step that writes, before anything that could be an answer.
    queueMicrotask(() => this.noteWritten());
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Readonly<Record<string, string | string[] | undefined>>,
  ): void {
    this.isHeadFlushed = true;
    // Informational responses (RFC 9110 section 15.2) precede the real one.
    if (status < 200) return;
    this.head = { status, headers: joined(headers) };
    if (BODILESS.has(status)) this.settleWithResponse();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isSettled) return;
    this.body.append(chunk);
    if (!this.body.isTruncated) return;
    this.settleWithResponse();
    this.connection?.kill();
  }

  onResponseEnd(): void {
    // A body that ends with its connection looks complete to undici even when the connection was reset.
    if (this.connection?.hasSocketError === true) this.settleWithout('body_incomplete');
    else this.settleWithResponse();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.settleWithout(causeOf(error, { isWritten: this.isWritten, hasResponse: this.head !== undefined }));
  }

  private noteWritten(): void {
    if (this.connection?.isFlushed === true) this.isHeadFlushed = true;
    reached('egress.written', this.options.request);
    try {
      this.options.request.onHandedToTransport?.();
    } catch {
      // The request is on the wire: what the observer makes of it changes nothing about that.
    }
  }

  /** The send limit counts until the gate is passed, the deadline from then on. */
  private armTimer(): void {
    const limitMs = this.isWritten ? this.options.request.deadlineMonotonicMs : this.sendLimitMs();
    this.timer = after(Math.ceil(limitMs - this.options.now()), () => this.onTimer());
  }

  private onTimer(): void {
    const now = this.options.now();
    if (this.isWritten && now >= this.options.request.deadlineMonotonicMs) this.abandon('timeout');
    else if (!this.isWritten && now >= this.sendLimitMs()) this.abandon('not_sent_deadline');
    else this.armTimer();
  }

  /** The monotonic clock stands still while a machine sleeps. What was to be sent before that is as late as the wall clock says. */
  private sleptMs(): number {
    const { now, wallNow } = this.options;
    const aheadMs = wallNow() - this.wallStartedAtMs - (now() - this.startedAtMs);
    return aheadMs >= SLEEP_MS_MIN ? aheadMs : 0;
  }

  private sendLimitMs(): number {
    const { sendBeforeMonotonicMs, deadlineMonotonicMs } = this.options.request;
    return Math.min(sendBeforeMonotonicMs, deadlineMonotonicMs);
  }

  private settleWithResponse(): void {
    if (this.head === undefined) return this.settleWithout('bad_framing');
    this.settle({
      kind: 'response',
      ...this.head,
      body: this.body.bytes(),
      bodyTruncated: this.body.isTruncated,
      evidence: this.evidence(),
    });
  }

  private settleWithout(cause: NoResponseCause): void {
    this.settle({ kind: 'no_response', cause, evidence: this.evidence() });
  }

  private settle(result: OutboundResult): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.timer?.cancel();
    this.options.onSettled(result);
  }

  private evidence(): TransportEvidence {
    const connectedAddress = this.connection?.connectedAddress;
    return {
      bytesWritten: this.isWritten,
      headersFlushed: this.isHeadFlushed,
      ...(connectedAddress === undefined ? {} : { connectedAddress }),
      startedAtMs: this.startedAtMs,
      endedAtMs: this.options.now(),
      ...(this.head === undefined ? {} : { bodyBytes: this.body.receivedBytes }),
    };
  }
}

function joined(headers: Readonly<Record<string, string | string[] | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name.toLowerCase(),
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  );
}
