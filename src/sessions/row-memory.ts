import type { SessionFact, SessionRow } from '../domain/session/session-row.js';
import type { FoldedState, SessionFold } from './session-fold.js';

/** A millisecond or two of work. */
const FOLDED_AT_ONCE = 512;

/** Where the state of a session stands. */
export interface FoldedUpTo {
  readonly state: FoldedState;
  /** The last row that is in it; -1: none. */
  readonly seq: number;
}

/**
 * The newest rows of a live session and the state of all of them. Rows are dropped once they are durable and folded, so that a
 * session takes no more memory the longer it lasts.
 */
export class RowMemory {
  private facts: SessionFact[] = [];
  private firstSeq: number;
  private folded: FoldedUpTo;

  constructor(
    private readonly fold: SessionFold,
    start: FoldedUpTo,
    private readonly rowsKept: number,
  ) {
    this.folded = start;
    this.firstSeq = start.seq + 1;
  }

  /** Rows after the last one. They are folded a few hundred at a time, so that nobody who waits has to wait for many. */
  push(facts: readonly SessionFact[]): void {
    for (const fact of facts) this.facts.push(fact);
    if (this.firstSeq + this.facts.length - 1 - this.folded.seq >= FOLDED_AT_ONCE) this.current();
  }

  /** The state up to the last row. */
  current(): FoldedState {
    const from = this.folded.seq + 1 - this.firstSeq;
    if (from < this.facts.length) {
      const state = this.fold.fold(this.folded.state, this.facts.slice(from));
      this.folded = { state, seq: this.firstSeq + this.facts.length - 1 };
    }
    return this.folded.state;
  }

  /** Lets go of durable rows, once there are twice as many as are to be kept. */
  trim(durableSeq: number): void {
    if (this.facts.length <= this.rowsKept * 2) return;
    const dropped = Math.min(this.facts.length - this.rowsKept, durableSeq - this.firstSeq + 1);
    if (dropped <= 0) return;
    this.current();
    this.facts = this.facts.slice(dropped);
    this.firstSeq += dropped;
  }

  get heldRows(): number {
    return this.facts.length;
  }

  /** Rows from `seq` on, at most `limit`; null: the first of them is not in memory any more. */
  rowsFrom(seq: number, limit: number): readonly SessionRow[] | null {
    if (seq < this.firstSeq) return null;
    const from = seq - this.firstSeq;
    return this.facts.slice(from, from + limit).map(rowOf);
  }
}

/** What of a fact stands in the log: the payload of a governed event is the store's alone. */
export function rowOf(fact: SessionFact): SessionRow {
  if (fact.kind === 'event') return fact;
  const { kind, seq, eventId, position, envelope, payloadCommitment } = fact;
  return Object.freeze({ kind, seq, eventId, position, envelope, payloadCommitment });
}
