import type { JsonValue } from '../../domain/json/json-value.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { isTerminal, type ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import { contradicts } from '../../domain/tool-call/tool-call.contradict.js';
import { isOpenHandoff } from './late-evidence.js';

const EVIDENCE = 'answer of the attempt, received late';
const SOURCE = 'attempt';

/**
 * What an attempt's end means for a call that is no longer where the attempt left it. On the wire: what it says. Unknown
 * by now: evidence that settles it, if it proves anything; a reference that it brings is kept. Handed to people: evidence
 * for them. Ended: a contradiction, if it says otherwise; an end never changes. Null: nothing is to be recorded.
 */
export function lateCommand(state: ToolCallState, command: ToolCallCommand): ToolCallCommand | null {
  if (state.status === 'result_unknown' || state.status === 'reconciling') return asEvidence(state, command);
  if (isOpenHandoff(state)) return forPeople(state, command);
  if (isTerminal(state.status)) return asContradiction(state, command);
  return command;
}

/** The tool's own answer, late: like a callback it need not wait until somebody has begun to look. */
function asEvidence(state: ToolCallState, command: ToolCallCommand): ToolCallCommand | null {
  if (command.kind === 'record_acceptance') {
    const { externalRequestId } = command.acceptance;
    return told(state, 'pending', { externalRequestId: externalRequestId ?? null });
  }
  if (command.kind === 'complete') {
    return {
      kind: 'resolve_happened',
      resolution: { verdict: 'happened', evidenceRefs: [EVIDENCE] },
      completion: { ...command.completion, basis: 'callback' },
    };
  }
  if (command.kind === 'fail') {
    return {
      kind: 'resolve_failed',
      resolution: { verdict: command.failure.effect === 'none' ? 'not_happened' : 'failed', evidenceRefs: [EVIDENCE] },
      failure: { ...command.failure, basis: 'callback' },
    };
  }
  return null;
}

function forPeople(state: ToolCallState, command: ToolCallCommand): ToolCallCommand | null {
  if (command.kind === 'complete') {
    const { result, externalRequestId } = command.completion;
    return told(state, 'happened', { externalRequestId: externalRequestId ?? null, effect: result });
  }
  if (command.kind === 'fail') return told(state, 'failed', { externalRequestId: null });
  return asEvidence(state, command);
}

function told(
  state: ToolCallState,
  meaning: 'happened' | 'failed' | 'pending',
  { externalRequestId, effect = null }: { readonly externalRequestId: string | null; readonly effect?: JsonValue },
): ToolCallCommand {
  const callbackId = `${SOURCE}/${state.attempt}`;
  return {
    kind: 'record_callback',
    callback: { callbackId, source: SOURCE, meaning, externalRequestId, evidence: { note: EVIDENCE, effect } },
  };
}

function asContradiction(state: ToolCallState, command: ToolCallCommand): ToolCallCommand | null {
  const says = command.kind === 'complete' ? 'happened' : command.kind === 'fail' ? 'failed' : null;
  if (says === null || !contradicts(state, says)) return null;
  return {
    kind: 'record_contradiction',
    contradiction: {
      evidenceRefs: [EVIDENCE],
      meaning: `the late answer says ${says}, the record says ${state.status}`,
    },
  };
}
