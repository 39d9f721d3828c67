import { isEventType } from '../events/domain-event.js';
import { schemaProblem } from './append-schema.js';
import { envelopeProblem, referenceProblem } from './append-references.js';
import { guardProblem } from './append-guard.js';
import { isSessionEventType, SESSION_CATALOGUE, SESSION_FORMAT_VERSION } from './session-catalogue.js';
import { emptyCore, waitsDurably, type SessionCore } from './session-core.js';
import { evolveCore } from './session-core.evolve.js';
import type { SessionKey } from './session-key.js';
import type { SessionEvent, SessionFact, SessionHeader } from './session-row.js';
import { isOpenTurn } from './turn.state.js';

export type TailClass =
  /** No turn is open. */
  | 'balanced'
  /** A turn is open and nobody will go on with it: closers are due. */
  | 'open'
  /** A turn is open and stays so. */
  | 'durable_wait';

export type TailVerdict =
  | { readonly ok: true; readonly tail: TailClass; readonly core: SessionCore; readonly unknownRows: number }
  | {
      readonly ok: false;
      readonly code: 'session_identity_mismatch' | 'session_format_unsupported' | 'session_log_corrupt';
      /** One sentence for people, without values. */
      readonly problem: string;
      /** Of the row it was found at; null: the header. */
      readonly seq: number | null;
    };

type Refused = Extract<TailVerdict, { ok: false }>;

/**
 * Understands a whole log: the same rules that let each row in judge it again, for a file is from outside even if this program
 * wrote it. What a newer program wrote is never called damaged (U-09).
 */
export function classifyTail(key: SessionKey, header: SessionHeader, facts: readonly SessionFact[]): TailVerdict {
  if (header.tenant !== key.tenant || header.sessionId !== key.sessionId) {
    return refused('session_identity_mismatch', 'the header names another session', null);
  }
  if (header.formatVersion !== SESSION_FORMAT_VERSION) {
    return refused('session_format_unsupported', 'the header names another format', null);
  }
  const foreign = facts.find((fact) => isForeign(fact));
  if (foreign !== undefined) {
    return refused('session_format_unsupported', 'a row holds an event of another version', foreign.seq);
  }
  const core = emptyCore(key);
  let before: SessionFact | null = null;
  let unknownRows = 0;
  for (const fact of facts) {
    const problem = rowProblem(core, before, fact);
    if (problem !== null) return refused('session_log_corrupt', problem, fact.seq);
    if (fact.kind === 'event' && !isSessionEventType(fact.eventType)) unknownRows += 1;
    evolveCore(core, fact);
    before = fact;
  }
  if (openGroup(before) !== null) return refused('session_log_corrupt', 'the last group is not whole', core.headSeq);
  return { ok: true, tail: tailOf(core), core, unknownRows };
}

export function tailOf(core: SessionCore): TailClass {
  if (!isOpenTurn(core.turn)) return 'balanced';
  return waitsDurably(core, core.turn) ? 'durable_wait' : 'open';
}

/** Needs a newer program to be understood. */
function isForeign(fact: SessionFact): boolean {
  if (fact.kind === 'mirror') return !isEventType(fact.envelope.eventType);
  if (!isSessionEventType(fact.eventType)) return fact.ignorable !== true;
  return fact.schemaVersion !== SESSION_CATALOGUE[fact.eventType].schemaVersion;
}

function rowProblem(core: SessionCore, before: SessionFact | null, fact: SessionFact): string | null {
  if (fact.seq !== core.headSeq + 1) return 'the rows are not contiguous';
  if (core.events.has(fact.eventId)) return 'an event is there twice';
  return groupProblem(openGroup(before), fact) ?? (fact.kind === 'event' ? eventProblem(core, fact) : null);
}

function eventProblem(core: SessionCore, event: SessionEvent): string | null {
  const type = event.eventType;
  if (!isSessionEventType(type)) return null;
  if (!SESSION_CATALOGUE[type].producers.some((producer) => producer === event.producer)) {
    return `${type} was not said by whom it is for`;
  }
  const refusal =
    schemaProblem(type, event.payload) ??
    envelopeProblem(event) ??
    referenceProblem(core, type, event) ??
    guardProblem(core, type, event, event.producer);
  return refusal === null ? null : refusal.message;
}

interface Group {
  readonly id: string;
  readonly index: number;
  readonly size: number;
}

function groupOf(fact: SessionFact | null): Group | null {
  if (fact?.kind !== 'event' || fact.groupId === undefined) return null;
  return { id: fact.groupId, index: fact.groupIndex ?? -1, size: fact.groupSize ?? 0 };
}

/** The group that a row leaves unfinished. */
function openGroup(fact: SessionFact | null): Group | null {
  const group = groupOf(fact);
  return group === null || group.index === group.size - 1 ? null : group;
}

function groupProblem(open: Group | null, fact: SessionFact): string | null {
  const group = groupOf(fact);
  if (open === null) return group === null || group.index === 0 ? null : 'a group is not whole';
  const goesOn = group?.id === open.id && group.size === open.size && group.index === open.index + 1;
  return goesOn ? null : 'a group is broken off';
}

const refused = (code: Refused['code'], problem: string, seq: number | null): Refused => ({
  ok: false,
  code,
  problem,
  seq,
});
