import { valueAt } from '../../domain/json/json-pointer.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import type { KnownEffect } from '../../domain/events/catalogue.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { ON_THE_WIRE } from '../../domain/tool-call/tool-call.place.js';
import { isTerminal, type ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import type { JsonObject } from '../../domain/json/json-value.js';

/** How to read what a tool says to a cancellation; the manifest's `cancel` has this shape. */
export interface CancelReading {
  readonly cancelledStatus: readonly number[];
  readonly refusedStatus: readonly number[];
  readonly statusAt: string | null;
  readonly cancelledWhen: readonly string[];
  readonly refusedWhen: readonly string[];
}

/** `not_sent`: provably nobody was asked. `unanswered`: asked, and nothing that proves anything came back. */
export type CancelAnswer = 'cancelled' | 'refused' | 'not_sent' | 'unanswered';

/** Only an answer that the manifest explains confirms or refuses a cancellation. `body` is undefined when unreadable. */
export function readCancelAnswer(status: number, body: JsonValue | undefined, reading: CancelReading): CancelAnswer {
  if (reading.refusedStatus.includes(status)) return 'refused';
  if (!reading.cancelledStatus.includes(status)) return 'unanswered';
  if (reading.statusAt === null) return 'cancelled';
  const word = body === undefined ? undefined : valueAt(body, reading.statusAt);
  if (typeof word !== 'string') return 'unanswered';
  if (reading.cancelledWhen.includes(word)) return 'cancelled';
  return reading.refusedWhen.includes(word) ? 'refused' : 'unanswered';
}

export interface CancelHeard {
  readonly answer: CancelAnswer;
  /** What a confirmed cancellation leaves behind, as the manifest states it. */
  readonly effect: KnownEffect;
  readonly evidence: JsonObject;
}

const EVIDENCE = 'answer of the tool to the cancellation';

/**
 * What the answer to a cancellation makes true of a call as it is now. On the wire: cancelled, or it goes on, or nobody
 * knows. Unknown by then: a confirmation is evidence that settles it. Ended: a confirmation that contradicts the end is
 * kept beside it. Null: nothing is to be recorded.
 */
export function cancelCommand(state: ToolCallState, heard: CancelHeard): ToolCallCommand | null {
  if (ON_THE_WIRE.some((status) => status === state.status)) return onTheWire(heard);
  if (heard.answer !== 'cancelled') return null;
  if (state.status === 'result_unknown' || state.status === 'reconciling') return asEvidence(heard);
  if (!isTerminal(state.status) || state.status === 'failed') return null;
  return {
    kind: 'record_contradiction',
    contradiction: {
      evidenceRefs: [EVIDENCE],
      meaning: `the tool confirmed a cancellation, the record says ${state.status}`,
    },
  };
}

function onTheWire({ answer, effect, evidence }: CancelHeard): ToolCallCommand {
  switch (answer) {
    case 'cancelled':
      return {
        kind: 'acknowledge_cancellation',
        cancelled: { effect },
        // The unchanged key would meet the same cancellation, so there is nothing to try again.
        failure: { code: 'cancelled', effect, basis: 'cancelled', retryable: false, message: MESSAGE, evidence },
      };
    case 'refused':
      return { kind: 'record_irreversible', irreversible: { reason: 'refused_by_tool' } };
    case 'not_sent':
      return { kind: 'record_irreversible', irreversible: { reason: 'cancel_not_sent' } };
    case 'unanswered':
      return {
        kind: 'mark_unknown',
        unknown: { cause: 'cancel_unanswered', lastError: 'cancel_unanswered', evidence },
      };
  }
}

const MESSAGE = 'the tool confirmed the cancellation';

function asEvidence({ effect, evidence }: CancelHeard): ToolCallCommand {
  return {
    kind: 'resolve_failed',
    resolution: { verdict: effect === 'none' ? 'not_happened' : 'failed', evidenceRefs: [EVIDENCE], evidence },
    failure: { code: 'cancelled', effect, basis: 'callback', retryable: false, message: MESSAGE },
  };
}
