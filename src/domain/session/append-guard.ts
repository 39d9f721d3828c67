import { refuse, type ErrorCode, type Refusal } from '../errors/error-codes.js';
import type { Producer } from '../events/event-definition.js';
import { isEnded, type RunStatus } from '../run/run.state.js';
import type { SessionEventType, SessionRef } from './session-catalogue.js';
import { runStatusOf, type SessionCore } from './session-core.js';
import { callsOf, turnCommandOf } from './turn-command.js';
import { decideTurn } from './turn.js';

type Refs = Readonly<Partial<Record<SessionRef, string>>>;
type Input = Refs & { readonly payload: Readonly<Record<string, unknown>> };

/** Why the event may not come now: an id is used, another turn or step is open, or the machine of the turn says no. */
export function guardProblem(
  core: SessionCore,
  type: SessionEventType,
  input: Input,
  producer: Producer,
): Refusal | null {
  const code =
    duplicateProblem(core, type, input) ??
    placeProblem(core, type, input) ??
    answerProblem(core, type, input) ??
    runProblem(core, type, input) ??
    outcomeProblem(type, input, producer);
  if (code !== null) return refuse(code, `${type} is refused: ${code}`);
  const command = turnCommandOf(type, input, input.payload);
  const refused = command === null ? null : decideTurn(core.turn, command);
  return refused === null ? null : refuse(refused, `${type} is refused: ${refused}`);
}

function duplicateProblem(core: SessionCore, type: SessionEventType, input: Input): ErrorCode | null {
  const { messageId } = input.payload;
  if (type === 'assistant.delta') return core.messages.has(String(messageId)) ? 'duplicate_id' : null;
  if (type === 'turn.started') return core.turns.has(input.turnId ?? '') ? 'duplicate_id' : null;
  if (type === 'step.started') return core.steps.has(input.stepId ?? '') ? 'duplicate_id' : null;
  if (typeof messageId === 'string' && core.messages.has(messageId)) return 'duplicate_id';
  if (type !== 'assistant.message') return null;
  const calls = callsOf(input.payload).map((call) => call.callId);
  return new Set(calls).size < calls.length || calls.some((id) => core.listed.has(id)) ? 'duplicate_id' : null;
}

/** What belongs inside a turn or a step names the one that is open. */
function placeProblem(core: SessionCore, type: SessionEventType, { turnId, stepId, runId }: Input): ErrorCode | null {
  if (!IN_TURN.has(type)) return null;
  const turn = core.turn;
  if (turn === null || turn.phase === 'ended' || turn.turnId !== turnId) return 'turn_not_open';
  if (turn.runId !== runId) return 'dangling_reference';
  return IN_STEP.has(type) && turn.stepId !== stepId ? 'step_not_open' : null;
}

// prettier-ignore
const IN_STEP: ReadonlySet<string> = new Set<SessionEventType>(['assistant.delta', 'assistant.message', 'step.ended']);
// prettier-ignore
const IN_TURN: ReadonlySet<string> = new Set<SessionEventType>([
  'assistant.delta', 'assistant.message', 'step.ended', 'step.started', 'turn.ended', 'tool.message', 'tool.reported',
  'context.projection_recorded',
]);

/** A harness answers for its own tools only; what is governed is answered from the record. */
function answerProblem(core: SessionCore, type: SessionEventType, { payload }: Input): ErrorCode | null {
  if (type !== 'tool.message' && type !== 'tool.reported') return null;
  const callId = String(payload['callId']);
  if (type === 'tool.reported' && core.callIds.has(callId)) return 'producer_not_allowed';
  const listed = core.listed.get(callId);
  if (listed === undefined) return 'dangling_reference';
  return listed.answeredSeq === null ? null : 'duplicate_id';
}

/** New work begins in a run that is running, as far as the session has been told. */
function runProblem(core: SessionCore, type: SessionEventType, { runId }: Input): ErrorCode | null {
  if (type !== 'turn.started' && type !== 'step.started') return null;
  const status = runStatusOf(core, runId);
  return status === 'none' ? 'dangling_reference' : closedFor(status);
}

function closedFor(status: RunStatus): ErrorCode | null {
  if (isEnded(status)) return status === 'ended_unrecorded' ? 'run_not_resumable' : 'run_already_ended';
  switch (status) {
    case 'running':
      return null;
    case 'suspending':
      return 'not_at_safe_point';
    case 'suspended':
    case 'interrupted':
      return 'run_suspended';
    case 'stopping':
      return 'run_stopping';
  }
}

/** That something was interrupted is for recovery to say: whoever is there to say it was not. */
function outcomeProblem(type: SessionEventType, { payload }: Input, producer: Producer): ErrorCode | null {
  if (type !== 'turn.ended' && type !== 'step.ended') return null;
  return payload['outcome'] === 'interrupted' && producer === 'harness' ? 'producer_not_allowed' : null;
}
