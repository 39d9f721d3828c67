import type { CallEnd, GovernedCall, SessionCore } from './session-core.js';
import type { NewSessionEvent } from './session.append.js';

/**
 * What the session owes the conversation about calls that have ended: one tool message for each listed call, and a notice
 * where an end comes after that message (U-41). Asking again after what is owed was appended gives nothing.
 */
export function owedAnswers(core: SessionCore): readonly NewSessionEvent[] {
  const owed: NewSessionEvent[] = [];
  for (const call of core.calls.values()) {
    const event = owedAnswer(core, call);
    if (event !== null) owed.push(event);
  }
  return owed;
}

/** The same for one call. */
export function owedAnswer(core: SessionCore, call: GovernedCall): NewSessionEvent | null {
  if (call.end === null || call.callId === null) return null;
  const listed = core.listed.get(call.callId);
  // nothing in the conversation asked for it (yet), so there is nothing to answer
  if (listed === undefined) return null;
  if (listed.answeredSeq === null) {
    return core.turn?.turnId === listed.turnId ? toolMessage(call, call.callId, call.end, listed.turnId) : null;
  }
  const messageId = `notice-${call.end.eventId}`;
  if (call.end.seq < listed.answeredSeq || core.messages.has(messageId)) return null;
  return {
    eventType: 'notice.message',
    ...(call.runId === null ? {} : { runId: call.runId }),
    toolCallId: call.toolCallId,
    correlationId: call.correlationId,
    causationId: call.end.eventId,
    payload: { messageId, about: call.toolCallId, text: `A later result of ${call.callId}: ${call.end.text}` },
  };
}

function toolMessage(call: GovernedCall, callId: string, end: CallEnd, turnId: string): NewSessionEvent {
  return {
    eventType: 'tool.message',
    ...(call.runId === null ? {} : { runId: call.runId }),
    turnId,
    toolCallId: call.toolCallId,
    correlationId: call.correlationId,
    causationId: end.eventId,
    payload: {
      messageId: `answer-${end.eventId}`,
      callId,
      contents: [{ type: 'text', text: end.text }],
      disposition: end.disposition,
    },
  };
}
