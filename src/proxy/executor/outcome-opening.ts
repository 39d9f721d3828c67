import type { CapabilityGate } from '../../capabilities/capability-gate.js';
import type { SuccessCriteria } from '../../capabilities/manifest.js';
import { isOneOf, ON_THE_WIRE, UNKNOWN, UNSENT } from '../../domain/tool-call/tool-call.place.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import type { StoreReader } from '../../storage/readers/store-reader.js';
import type { CallInUnit } from '../../storage/units/call-in-unit.js';
import type { LoadedCall } from '../../storage/units/load.js';
import { loadOutcome, OutcomeInUnit, outcomeToOpen } from '../../storage/units/outcome-in-unit.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';

interface Surroundings {
  readonly read: StoreReader;
  readonly gate: CapabilityGate;
}

/**
 * What a settlement means for the outcome, in the same unit (O1, O8): where the effect may be in the world its
 * verification is opened, and where it is proven not to be there it has failed. The answer itself confirms nothing.
 * Nothing is read for a capability without success criteria, nor for the first attempt of one that has some.
 */
export async function followOutcome(
  { read, gate }: Surroundings,
  draft: UnitDraft,
  before: LoadedCall,
  after: CallInUnit,
): Promise<void> {
  const now = draft.context.occurredAt;
  if (mayHaveHappened(before.state, after.state)) {
    const success = await criteriaFor({ read, gate }, before);
    if (success === null) return;
    const { row, state } = before;
    const earlier = state.attempt === 1 ? null : await loadOutcome(read, row.tenant, row.tool_call_id);
    const outcome = new OutcomeInUnit(draft, earlier ?? outcomeToOpen(row, now), after.refs);
    outcome.do({ kind: 'open', opening: openingOf(success, state.attempt), now });
    return;
  }
  if (!isProvenAbsent(before.state, after.state)) return;
  const outcome = await loadOutcome(read, before.row.tenant, before.row.tool_call_id);
  if (outcome !== null) new OutcomeInUnit(draft, outcome, after.refs).do({ kind: 'note_no_effect', now });
}

/** Of the definition the call is bound to; where that is gone, of the one in force, if the call was proposed with any. */
async function criteriaFor({ read, gate }: Surroundings, { row, state }: LoadedCall): Promise<SuccessCriteria | null> {
  const bound = gate.bound(state);
  if (bound !== undefined) return bound.manifest.success ?? null;
  const success = gate.get(state.capability)?.manifest.success;
  if (success === undefined) return null;
  const proposed = await read.event(row.tenant, row.proposed_event_id);
  return typeof proposed?.payload['successCriteria'] === 'string' ? success : null;
}

const openingOf = ({ criteria, version, needs, withinMs }: SuccessCriteria, attempt: number) => ({
  criteriaId: criteria,
  criteriaVersion: version,
  needs,
  withinMs,
  attempt,
});

/** An attempt that was on the wire has ended, or nobody knows how. */
function mayHaveHappened(before: ToolCallState, after: ToolCallState): boolean {
  // Of a restored store: not on record as sent, and sent perhaps.
  if (isOneOf(before, UNSENT)) return after.status === 'result_unknown';
  if (!isOneOf(before, ON_THE_WIRE)) return false;
  if (after.status === 'completed' || after.status === 'result_unknown' || after.status === 'manual_handoff')
    return true;
  return after.status === 'failed' && after.knownEffect !== 'none';
}

function isProvenAbsent(before: ToolCallState, after: ToolCallState): boolean {
  return isOneOf(before, UNKNOWN) && after.status === 'failed' && after.knownEffect === 'none';
}
