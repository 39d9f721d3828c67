import { ON_THE_WIRE } from '../domain/tool-call/tool-call.place.js';
import type { ToolCallState } from '../domain/tool-call/tool-call.state.js';
import type { Cancel, Capability } from './manifest.js';

/** Whether the tool can be asked to stop a call that may be on the wire; otherwise the word for why nobody can. */
export type Stoppable =
  | { readonly possible: true; readonly cancel: Cancel }
  | { readonly possible: false; readonly reason: 'not_supported' | 'reference_unknown' | 'definition_changed' };

/** `capability` is the definition the call is bound to; undefined when that is no longer in force. */
export function stoppable(capability: Capability | undefined, state: ToolCallState): Stoppable {
  if (capability === undefined) return { possible: false, reason: 'definition_changed' };
  const { cancel } = capability.manifest;
  if (cancel === null) return { possible: false, reason: 'not_supported' };
  if (cancel.by === 'external_id' && state.externalRequestId === null) {
    return { possible: false, reason: 'reference_unknown' };
  }
  return { possible: true, cancel };
}

export function isOnTheWire(state: ToolCallState): boolean {
  return ON_THE_WIRE.some((status) => status === state.status);
}

/** ISO 8601: until when the tool may answer. The request that is to be cancelled may still be on its way to it. */
export function cancelBy(cancel: Cancel, nowMs: number): string {
  return new Date(nowMs + cancel.timeoutMs).toISOString();
}
