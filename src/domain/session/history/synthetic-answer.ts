import type { MessageDisposition } from '../session-catalogue.js';
import type { HistoryMessage } from '../session-state.js';

const TEXTS: Readonly<Record<MessageDisposition, string>> = {
  completed: 'The call was completed; its result is not part of this conversation.',
  denied: 'The call was denied.',
  not_executed: 'The call had not been carried out when the conversation was cut here.',
  failed: 'The call failed.',
  accepted_pending: 'The tool has accepted the call; its result is not known yet.',
  result_unknown: 'It is not known whether this call had its effect. Do not make it again; it is being looked up.',
  handed_off: 'A person has taken this call over.',
  reported: 'The harness has run this tool by itself.',
};

/** An answer that stands for one which is not there: the same call always gets the same one. */
export function syntheticAnswer(
  asking: HistoryMessage,
  callId: string,
  disposition: MessageDisposition,
): HistoryMessage {
  return {
    messageId: `${asking.messageId}:answer:${callId}`,
    role: 'tool',
    contents: [{ type: 'text', text: TEXTS[disposition] }],
    callId,
    disposition,
    createdAt: asking.createdAt,
  };
}

/** Puts an answer behind its question and the answers that are there already: nothing comes between a call and its answer. */
export function insertAnswer(messages: HistoryMessage[], asking: number, answer: HistoryMessage): void {
  let at = asking + 1;
  while (messages[at]?.role === 'tool') at += 1;
  messages.splice(at, 0, answer);
}
