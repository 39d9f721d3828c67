import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { isTerminal, type ToolCallState } from '../../domain/tool-call/tool-call.state.js';

const EVIDENCE = 'answer of the attempt, received late';

/**
 * What an attempt's end means for a call that is no longer where the attempt left it. On the wire: what it says. Unknown
 * by now: evidence that settles it, if it proves anything. Ended: a contradiction, if it says otherwise; an end never
 * changes. Null: nothing is to be recorded.
 */
export function lateCommand(state: ToolCallState, command: ToolCallCommand): ToolCallCommand | null {
  if (state.status === 'result_unknown' || state.status === 'reconciling') return asEvidence(command);
  if (isTerminal(state.status)) return asContradiction(state, command);
  return command;
}

/** The tool's own answer, late: like a callback it need not wait until somebody has begun to look. */
function asEvidence(command: ToolCallCommand): ToolCallCommand | null {
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

function asContradiction(state: ToolCallState, command: ToolCallCommand): ToolCallCommand | null {
  const says = command.kind === 'complete' ? 'completed' : command.kind === 'fail' ? 'failed' : null;
  if (says === null || says === state.status) return null;
  return {
    kind: 'record_contradiction',
    contradiction: {
      evidenceRefs: [EVIDENCE],
      meaning: `the late answer says ${says}, the record says ${state.status}`,
    },
  };
}
