import type { CommittedEvent, EventEnvelope } from '../domain/events/envelope.js';
import { eventView } from '../domain/events/event-view.js';

/** The CloudEvents `source` of an installation: a URI that stays the same wherever the server is reached. */
export function installationSource(name: string): string {
  return `urn:countersign:${encodeURIComponent(name)}`;
}

/** What keeps its order at a sink: everything about one tool call, else one stream. */
export function partitionOf({ toolCallId, streamKind, streamId }: EventEnvelope): string {
  return toolCallId === undefined ? `${streamKind}/${streamId}` : `call/${toolCallId}`;
}

/**
 * An event as CloudEvents 1.0, structured JSON. `data` is the event as every other reader sees it; `sequence` (the
 * documented extension) is its position as text, `tenant` says whose it is, because a sink is told of all tenants.
 * A repetition is the same JSON value; the order of members may differ.
 */
export function cloudEventJson(source: string, event: CommittedEvent): string {
  const { envelope, position } = event;
  return JSON.stringify({
    specversion: '1.0',
    id: envelope.eventId,
    source,
    type: envelope.eventType,
    subject: `${envelope.streamKind}/${envelope.streamId}`,
    time: envelope.occurredAt,
    datacontenttype: 'application/json',
    sequence: String(position),
    tenant: envelope.tenant,
    data: eventView(event),
  });
}
