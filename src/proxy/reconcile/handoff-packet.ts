import type { JsonObject } from '../../domain/json/json-value.js';
import type { StoreReader } from '../../storage/readers/store-reader.js';
import type { LoadedCall } from '../../storage/units/load.js';

/** Newest events that a packet lists; the whole stream stays in the store. */
const TIMELINE_MAX = 200;

/**
 * What a person needs to settle a call that nobody could settle: who it is about, what is known, what was tried, and
 * what to ask the tool's owner. Arguments and results stay sealed; the packet names their digests.
 */
export async function handoffPacket(read: StoreReader, call: LoadedCall): Promise<JsonObject> {
  const { row, state } = call;
  const events = await read.streamEvents(row.tenant, { kind: 'call', id: row.tool_call_id });
  const queries = events.filter((event) => event.envelope.eventType === 'reconciliation.attempted');
  const told = events.filter((event) => event.envelope.eventType === 'tool.call.callback_received');
  return {
    toolCallId: row.tool_call_id,
    runId: row.run_id,
    capability: `${state.capability}@${state.capabilityVersion}`,
    risk: state.risk,
    effect: state.effect,
    attempt: state.attempt,
    argsDigest: state.argsDigest,
    downstreamKey: state.downstreamKey,
    externalRequestId: state.externalRequestId,
    cause: 'cause' in state ? state.cause : null,
    deadline: 'deadline' in state ? state.deadline : null,
    timeline: events.slice(-TIMELINE_MAX).map(({ position, envelope }) => ({
      position,
      eventId: envelope.eventId,
      event: envelope.eventType,
      at: envelope.occurredAt,
    })),
    queriesTried: queries.map(({ payload }) => ({
      n: payload['n'] ?? null,
      result: payload['result'] ?? null,
      evidence: payload['evidence'] ?? null,
    })),
    evidence: told.map(({ envelope, payload }) => ({
      eventId: envelope.eventId,
      callbackId: payload['callbackId'] ?? null,
      source: payload['source'] ?? null,
      meaning: payload['meaning'] ?? null,
    })),
    questions: [
      `Does the tool know a request with the key ${state.downstreamKey}?`,
      'If it does: did the effect happen in full, in part, or not at all, and where is the proof?',
      'If it does not: can the tool still execute it later?',
    ],
  };
}
