import type { HistoryMessage } from '../session-state.js';
import { stripMedia } from './strip-media.js';
import { toolCallsPaired } from './tool-pairing.js';

export type ModelHistory =
  | { readonly ok: true; readonly messages: readonly HistoryMessage[] }
  | { readonly ok: false; readonly problem: { readonly code: 'history_unpaired'; readonly message: string } };

/**
 * The messages that may be sent to a model: whole ones, without media, every call with its one answer. With
 * `isAwaiting` the calls of the last message may be open still: then it is what a model may be sent once they are answered. Reminders are no messages; whoever builds the prompt adds them each time.
 */
export function modelHistory(messages: readonly HistoryMessage[], isAwaiting = false): ModelHistory {
  const whole = messages.filter(({ incomplete }) => incomplete !== true);
  if (!toolCallsPaired(whole, isAwaiting)) {
    const message = 'A tool call of the history has no answer, or an answer has no call.';
    return { ok: false, problem: { code: 'history_unpaired', message } };
  }
  return { ok: true, messages: whole.map(stripMedia) };
}
