import type { LoadedCall } from '../../storage/units/load.js';
import type { UnitDesk } from '../../storage/units/unit-desk.js';
import { after, type Timer } from '../../system/timers.js';
import type { CallRecorder } from './call-recorder.js';

/**
 * When the request of an attempt was given to the socket. When no answer comes for a while that becomes a fact of its
 * own; otherwise it shares the unit of the answer.
 */
export class SentNote {
  private moment: string | null = null;
  private timer: Timer | null = null;
  private recorded: Promise<LoadedCall>;

  constructor(
    private readonly call: LoadedCall,
    private readonly desk: UnitDesk,
    private readonly recorder: CallRecorder,
  ) {
    this.recorded = Promise.resolve(call);
  }

  /** ISO 8601; null while nothing was given to a socket. */
  get at(): string | null {
    return this.moment;
  }

  mark(recordAfterMs: number): void {
    if (this.moment !== null) return;
    const dispatchedAt = this.desk.now();
    this.moment = dispatchedAt;
    this.timer = after(recordAfterMs, () => {
      this.recorded = this.recorder
        .recordSent(this.call, dispatchedAt)
        // Somebody else moved the call, or the store failed: the end of the attempt finds out which.
        .catch(() => this.call);
    });
  }

  /** No more records of its own; answers the call as it now stands, so that its end is the next unit. */
  stop(): Promise<LoadedCall> {
    this.timer?.cancel();
    return this.recorded;
  }
}
