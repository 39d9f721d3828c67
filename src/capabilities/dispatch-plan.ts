import type { EventPayload } from '../domain/events/catalogue.js';
import type { JsonObject } from '../domain/json/json-value.js';
import type { ToolCallState } from '../domain/tool-call/tool-call.state.js';
import type { Guard } from '../storage/unit.js';
import type { InstanceRef } from '../storage/store.js';
import type { Capability } from './manifest.js';

/**
 * The intent to send, made durable before the first byte leaves. The fence of an attempt is its number: an attempt is
 * dispatched at most once, so the number only grows.
 */
export function planDispatch(
  capability: Capability,
  state: ToolCallState,
  circumstances: {
    readonly instance: InstanceRef;
    readonly nonce: string;
    readonly target: JsonObject;
    readonly nowMs: number;
  },
): EventPayload<'tool.call.dispatching'> {
  const { instance, nonce, target, nowMs } = circumstances;
  const deadlineMs = nowMs + capability.manifest.timeoutMs;
  const latestMs = state.executeBefore === null ? deadlineMs : Math.min(deadlineMs, Date.parse(state.executeBefore));
  return {
    attempt: state.attempt,
    nonce,
    fence: state.attempt,
    owner: instance.instanceId,
    ownerEpoch: instance.epoch,
    downstreamKey: state.downstreamKey,
    target,
    deadline: new Date(latestMs).toISOString(),
    dispatchIntentAt: new Date(nowMs).toISOString(),
  };
}

/** The definition that was judged is still the one in force, and nobody holds it. */
export function capabilityIsActive(capability: Capability): Guard {
  return {
    name: 'capability',
    table: 'capabilities',
    where: {
      name: capability.manifest.name,
      version: capability.manifest.version,
      manifest_digest: capability.manifestDigest,
      state: 'active',
    },
    expect: 'present',
  };
}
