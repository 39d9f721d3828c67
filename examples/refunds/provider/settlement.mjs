/** @typedef {import('./rows.mjs').RefundRow} RefundRow */

const longestTimerMs = 60_000;

/** Ends pending refunds when they are due and tells their callers. What is due lives in the database, so it survives a restart. */
export class Settlement {
  #book;
  #callbacks;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #woken = false;
  #stopped = false;

  /**
   * @param {import('./refund-book.mjs').RefundBook} book
   * @param {import('./callbacks.mjs').Callbacks} callbacks
   */
  constructor(book, callbacks) {
    this.#book = book;
    this.#callbacks = callbacks;
  }

  /** Runs inside the transaction that creates a pending refund. @param {RefundRow} refund */
  accepted = (refund) => this.#callbacks.recordAccepted(refund, refund.created_at);

  /** Looks soon at what is due; many calls in one turn of the event loop are one look. */
  wake = () => {
    if (this.#woken) return;
    this.#woken = true;
    setImmediate(() => {
      this.#woken = false;
      this.#look();
    });
  };

  /** Carries out what is due and sets the alarm for what is due next. */
  #look() {
    if (this.#stopped) return;
    clearTimeout(this.#timer);
    const now = Date.now();
    for (const refund of this.#book.refundsDue(now)) {
      this.#book.settle(refund, now, (settled) => this.#callbacks.recordSettled(settled, now));
    }
    this.#callbacks.startDue(now, this.wake);
    const next = [this.#book.nextSettlementAt(), this.#callbacks.nextAt()].filter((at) => at !== null);
    if (next.length === 0) return;
    this.#timer = setTimeout(this.wake, Math.min(longestTimerMs, Math.max(0, Math.min(...next) - now)));
  }

  stop() {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }
}
