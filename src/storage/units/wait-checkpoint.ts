import type { EventRefs } from '../../domain/events/envelope.js';
import type { CheckpointKind } from '../../domain/events/session-events.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import { CheckpointInUnit } from './checkpoint-in-unit.js';
import type { UnitDraft } from './unit-draft.js';

/**
 * A checkpoint in the unit that makes a run of a session wait, or go on. Runs that calls opened have no log to go on
 * from, and none of these. `durableSeq`: up to where the log of the session is on disk, which a later load holds it to.
 */
export function recordCheckpoint(
  draft: UnitDraft,
  refs: EventRefs,
  kind: CheckpointKind,
  durableSeq?: number,
): string | null {
  const { runId, sessionId, turnId = null } = refs;
  if (runId === undefined || sessionId === undefined || sessionId === runId) return null;
  const { tenant, occurredAt, synthetic } = draft.context;
  const checkpointId = draft.ids.next(ID_PREFIXES.checkpoint);
  const facts = {
    checkpoint_id: checkpointId,
    tenant,
    session_id: sessionId,
    run_id: runId,
    turn_id: turnId,
    version: 0,
    created_at: occurredAt,
    updated_at: occurredAt,
  };
  const producer = synthetic === undefined ? 'session-runtime' : 'recovery';
  const creation = { checkpointId, kind, ...(durableSeq === undefined ? {} : { seq: durableSeq }) };
  new CheckpointInUnit(draft, { state: null, facts }).do({ kind: 'create', creation }, producer);
  return checkpointId;
}
