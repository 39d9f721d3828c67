import { isEnded, type RunStatus } from '../run/run.state.js';
import type { MessageDisposition } from './session-catalogue.js';
import type { SessionKey } from './session-key.js';
import { evolveTurn, type TurnFact } from './turn.js';
import { isDurableWait, type TurnState } from './turn.state.js';

/** A call of the session as the store tells it. */
export interface GovernedCall {
  readonly toolCallId: string;
  readonly runId: string | null;
  readonly turnId: string | null;
  /** The model's id; null where the caller gave none, or where the payload that said it is erased. */
  readonly callId: string | null;
  readonly correlationId: string;
  /** Its last end, until a retry opens it again. */
  readonly end: CallEnd | null;
}

export interface CallEnd {
  readonly eventId: string;
  readonly seq: number;
  readonly disposition: MessageDisposition;
  /** What the conversation is told. */
  readonly text: string;
}

/** A call that an assistant message listed. */
export interface ListedCall {
  readonly turnId: string;
  readonly name: string;
  /** Row of its one tool message; null: none yet. */
  readonly answeredSeq: number | null;
}

/**
 * What a session must know of its rows to judge the next one; the rows themselves live elsewhere. Changed in place by
 * `evolveCore` and by nothing else. Ids of deltas and of progress are kept only once something has named them as its cause.
 */
export interface SessionCore {
  readonly key: SessionKey;
  /** The log says what it is about: `session.created`, or a state that was imported. */
  isCreated: boolean;
  /** The store has the tombstone of the session: nothing is said in it any more. */
  isDeleted: boolean;
  /** Of the harness that attached last, as far as it is mirrored; 0: none. */
  ownerEpoch: number;
  /** Of the last row; -1: there is none. */
  headSeq: number;
  lastEventId: string | null;
  turn: TurnState | null;
  /** What the pieces of the message that is being streamed are caused by; null: none is. */
  streamCause: string | null;
  /** Ledger index of the last mirrored event; -1: none. */
  mirroredPosition: number;
  lastRunId: string | null;
  readonly runs: Map<string, RunStatus>;
  /** Runs that recovery suspended because nobody was there any more: their turns are closed like those of an interrupted run. */
  readonly cutRuns: Set<string>;
  readonly turns: Set<string>;
  readonly steps: Set<string>;
  readonly messages: Set<string>;
  readonly events: Set<string>;
  readonly reasoning: Set<string>;
  /** By the model's id. */
  readonly listed: Map<string, ListedCall>;
  /** By tool call id. */
  readonly calls: Map<string, GovernedCall>;
  /** The model's id → tool call id. */
  readonly callIds: Map<string, string>;
  /** While a batch is being tried: how to take back what it has changed so far, the last change last. */
  undo: (() => void)[] | null;
}

export function emptyCore(key: SessionKey): SessionCore {
  return {
    key,
    isCreated: false,
    isDeleted: false,
    ownerEpoch: 0,
    headSeq: -1,
    lastEventId: null,
    turn: null,
    streamCause: null,
    mirroredPosition: -1,
    lastRunId: null,
    runs: new Map(),
    cutRuns: new Set(),
    turns: new Set(),
    steps: new Set(),
    messages: new Set(),
    events: new Set(),
    reasoning: new Set(),
    listed: new Map(),
    calls: new Map(),
    callIds: new Map(),
    undo: null,
  };
}

/** Brings a fact of the store to the turn it names, if that is the open one. */
export function tellTurn(core: SessionCore, turnId: string | null, fact: TurnFact): void {
  if (turnId !== null && core.turn?.turnId === turnId) core.turn = evolveTurn(core.turn, fact);
}

/** Whether the turn that is open may stay so over a restart. */
export function waitsDurably(core: SessionCore, turn: TurnState): boolean {
  return isDurableWait(turn, core.cutRuns.has(turn.runId) ? 'interrupted' : runStatusOf(core, turn.runId));
}

/** The run status as far as it is mirrored; a run that is not known counts as none. */
export function runStatusOf(core: SessionCore, runId: string | undefined): RunStatus | 'none' {
  return (runId === undefined ? undefined : core.runs.get(runId)) ?? 'none';
}

/** The last run of the session has ended, and the store knows how. */
export function hasRecordedEnd(core: SessionCore): boolean {
  const status = runStatusOf(core, core.lastRunId ?? undefined);
  return status !== 'none' && status !== 'ended_unrecorded' && isEnded(status);
}
