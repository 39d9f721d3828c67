import { CountersignError } from '../domain/errors/countersign-error.js';
import { SESSION_FORMAT_VERSION } from '../domain/session/session-catalogue.js';
import { hasRecordedEnd, waitsDurably } from '../domain/session/session-core.js';
import type { SessionKey } from '../domain/session/session-key.js';
import { SNAPSHOT_ENVELOPE_VERSION, type SessionSnapshot } from '../domain/session/session-state.js';
import { isOpenTurn } from '../domain/session/turn.state.js';
import type { Clock } from '../system/clock.js';
import type { LiveSession } from './live-session.js';
import { withoutResumption, type SessionFold } from './session-fold.js';
import { textOf } from './session-media.js';
import type { StateStorage } from './snapshots/state-storage.js';

export const TERMINAL_SAVE_POINTS = ['cancelled', 'error', 'complete'] as const;
export const SAVE_POINTS = [
  'after_user_input',
  'after_assistant_turn',
  'after_tool_batch',
  'suspended',
  ...TERMINAL_SAVE_POINTS,
] as const;
export type SavePoint = (typeof SAVE_POINTS)[number];

export type SaveResult =
  | { readonly outcome: 'saved'; readonly snapshot: SessionSnapshot }
  /** The end of a run could not be saved, and the mark that says so could: the session will not be resumed. */
  | { readonly outcome: 'marked_not_resumable'; readonly problem: string };

const FIRST_RETRY_MS = 1000;
const RETRY_MS_MAX = 60_000;

interface Unmarked {
  readonly key: SessionKey;
  readonly waitMs: number;
  readonly nextAt: number;
}

/**
 * Snapshots at the points where a conversation can be taken up. A snapshot stands at a row that is durable, so it is never ahead
 * of the log. The end of a run that can be saved by nothing is held against the session in this process until it can.
 */
export class SessionSaves {
  private readonly unmarked = new Map<string, Unmarked>();
  /** What is being written to the storage, by session. */
  private readonly writing = new Map<string, Set<Promise<unknown>>>();

  constructor(
    private readonly storage: StateStorage,
    private readonly fold: SessionFold,
    private readonly versionSetId: string,
    private readonly clock: Clock,
  ) {}

  /**
   * Rejects with `history_unpaired`, with what the flush or the storage rejected with, and at the end of a run, where neither
   * the save nor the mark succeeded, with `state_save_failed` naming both problems.
   */
  async save(live: LiveSession, point: SavePoint): Promise<SaveResult> {
    const isTerminal = TERMINAL_SAVE_POINTS.some((terminal) => terminal === point);
    try {
      const snapshot = this.snapshotOf(live, isTerminal);
      await live.flush();
      mustBeOpen(live);
      await this.written(live.key, this.storage.save(snapshot));
      this.unmarked.delete(textOf(live.key));
      // Made good; a run that ended without a record of how stays what it is.
      if (isTerminal && hasRecordedEnd(live.facts)) live.notResumable = false;
      return { outcome: 'saved', snapshot };
    } catch (error) {
      if (!isTerminal || live.isClosed) throw error;
      return this.mark(live, error);
    }
  }

  /** The harness itself says that its session cannot go on. Rejects with `state_save_failed`. */
  async markNotResumable(live: LiveSession): Promise<void> {
    mustBeOpen(live);
    await this.written(live.key, this.storage.markNotResumable(live.key));
    live.notResumable = true;
  }

  /** Everything of the session is being removed: resolves when nothing of it is being written any more. */
  async forget(key: SessionKey): Promise<void> {
    this.unmarked.delete(textOf(key));
    const writing = this.writing.get(textOf(key));
    if (writing !== undefined) await Promise.allSettled(writing);
  }

  /** Some end of a run is on no medium: the process is not to be trusted with a restart. */
  get isDegraded(): boolean {
    return this.unmarked.size > 0;
  }

  /** The end of this session's run is on no medium yet. */
  owesMark(key: SessionKey): boolean {
    return this.unmarked.has(textOf(key));
  }

  /** Tries the marks that are due again; all of them where `isLast`. Resolves with what still failed. */
  async retryMarks(isLast = false): Promise<readonly unknown[]> {
    const problems: unknown[] = [];
    for (const [text, entry] of this.unmarked) {
      if (!isLast && this.clock.now() < entry.nextAt) continue;
      try {
        await this.written(entry.key, this.storage.markNotResumable(entry.key));
        this.unmarked.delete(text);
      } catch (error) {
        problems.push(error);
        if (this.unmarked.has(text)) this.keep(entry.key, Math.min(entry.waitMs * 2, RETRY_MS_MAX));
      }
    }
    return problems;
  }

  private snapshotOf(live: LiveSession, isTerminal: boolean): SessionSnapshot {
    const { turn, headSeq, lastEventId, key } = live.facts;
    const folded = isTerminal || live.notResumable ? withoutResumption(live.state()) : live.state();
    const mayEndOpen = isOpenTurn(turn) && waitsDurably(live.facts, turn);
    const problem = this.fold.pairingProblem(folded.agentState, mayEndOpen);
    if (problem !== null) throw new CountersignError('history_unpaired', problem);
    if (lastEventId === null) throw new CountersignError('state_save_failed', 'the session has no event yet');
    return Object.freeze({
      envelopeVersion: SNAPSHOT_ENVELOPE_VERSION,
      ...key,
      position: { lastSeq: headSeq, lastEventId, sessionFormatVersion: SESSION_FORMAT_VERSION },
      ...folded,
      versionSetId: this.versionSetId,
    });
  }

  private async mark(live: LiveSession, cause: unknown): Promise<SaveResult> {
    live.notResumable = true;
    try {
      await this.written(live.key, this.storage.markNotResumable(live.key));
      return { outcome: 'marked_not_resumable', problem: wordsOf(cause) };
    } catch (error) {
      this.keep(live.key, FIRST_RETRY_MS);
      const problems = [wordsOf(cause), wordsOf(error)];
      throw new CountersignError('state_save_failed', 'neither the end of the run nor its mark could be saved', {
        problems,
      });
    }
  }

  private async written(key: SessionKey, write: Promise<void>): Promise<void> {
    const text = textOf(key);
    const others = this.writing.get(text) ?? new Set();
    this.writing.set(text, others.add(write));
    try {
      await write;
    } finally {
      others.delete(write);
      if (others.size === 0) this.writing.delete(text);
    }
  }

  private keep(key: SessionKey, waitMs: number): void {
    this.unmarked.set(textOf(key), { key, waitMs, nextAt: this.clock.now() + waitMs });
  }
}

/** A session that was deleted, or let go of, is no longer this one's to write about. */
function mustBeOpen(live: LiveSession): void {
  if (live.isClosed) throw new CountersignError('persistence_closed', 'the session has been closed');
}

/** Messages of media hold paths; a code says enough. */
function wordsOf(error: unknown): string {
  if (error instanceof CountersignError) return error.code;
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown';
}
