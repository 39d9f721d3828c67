/** An event on its way to a sink. */
export interface Delivery {
  readonly position: number;
  readonly eventId: string;
  /** Deliveries of one partition stay in order: those about one tool call, else those of one stream. */
  readonly partition: string;
  /** ISO 8601. */
  readonly recordedAt: string;
  /** The CloudEvent as JSON, without a line end. */
  readonly body: string;
}

/**
 * Why a delivery was not taken: `refused` by an answer about this event, `unavailable` when nothing says that it is this
 * event's fault, `gone` when the receiver wants no more events at all. `reason` is a code, never a foreign text.
 */
export interface Failure {
  readonly kind: 'refused' | 'unavailable' | 'gone';
  readonly reason: string;
  /** What the receiver asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | null;
}

export type Outcome = { readonly kind: 'delivered' } | { readonly kind: 'not_tried' } | Failure;

export interface Delivered {
  readonly delivery: Delivery;
  readonly outcome: Outcome;
}

/** Somebody who is told of events. */
export interface Sink {
  /** Most deliveries of one round. */
  readonly batchMax: number;
  /** How long a round waits for more events to come, in milliseconds. */
  readonly lingerMs: number;
  /**
   * Offers deliveries, those of one partition one after the other in the order given. Answers every one of them, in the
   * order in which their outcomes were known; `not_tried` come last. Never rejects.
   */
  deliver(batch: readonly Delivery[], stopping: AbortSignal): Promise<readonly Delivered[]>;
  close(): Promise<void>;
}
