import type { StepOutcome, TurnOutcome } from './session-catalogue.js';
import type { AssistantToolCall } from './session-state.js';
import type { TurnCommand } from './turn.js';

/** What an event asks of the turn machine, or null. The payload fits its type. */
export function turnCommandOf(
  eventType: string,
  refs: { readonly runId?: string; readonly turnId?: string; readonly stepId?: string },
  payload: Readonly<Record<string, unknown>>,
): TurnCommand | null {
  switch (eventType) {
    case 'turn.started':
      return { kind: 'begin_turn', runId: refs.runId ?? '', turnId: refs.turnId ?? '' };
    case 'context.projection_recorded':
      return { kind: 'record_context', contextBuildId: String(payload['contextBuildId']) };
    case 'step.started': {
      const build = payload['contextBuildId'];
      return {
        kind: 'begin_step',
        stepId: refs.stepId ?? '',
        contextBuildId: typeof build === 'string' ? build : null,
      };
    }
    case 'assistant.delta':
      return STREAM;
    case 'assistant.message': {
      const calls = callsOf(payload).map((call) => call.callId);
      return { kind: 'finish_message', calls, isIncomplete: payload['incomplete'] === true };
    }
    case 'tool.message':
    case 'tool.reported':
      return { kind: 'answer', callId: String(payload['callId']) };
    case 'step.ended':
      return { kind: 'end_step', outcome: payload['outcome'] as StepOutcome };
    case 'turn.ended':
      return { kind: 'end_turn', outcome: payload['outcome'] as TurnOutcome };
    default:
      return null;
  }
}

const STREAM: TurnCommand = { kind: 'stream' };

/** The calls of an assistant message that may be carried out: a message that was cut lists none. */
export function callsOf(payload: Readonly<Record<string, unknown>>): readonly AssistantToolCall[] {
  return payload['incomplete'] === true ? [] : (payload['toolCalls'] as readonly AssistantToolCall[]);
}
