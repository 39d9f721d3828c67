import type { Settings } from '../config/settings.js';
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

/** Where an installation is found, and what it is called in what it tells. */
export interface Sender {
  /** CloudEvents `source`. */
  readonly source: string;
  /** URL under which people reach the server, without a slash at its end; null: nobody said. */
  readonly publicUrl: string | null;
}

export function senderOf({ name, publicUrl }: Settings['installation']): Sender {
  return { source: installationSource(name), publicUrl: publicUrl?.replace(/\/+$/, '') ?? null };
}

/**
 * An event as CloudEvents 1.0, structured JSON. `data` is the event as every other reader sees it; `sequence` (the
 * documented extension) is its position as text, `tenant` says whose it is, because a sink is told of all tenants.
 * A repetition is the same JSON value; the order of members may differ.
 *
 * What asks for people's attention carries `link`, the page where they read and decide. Nothing that is sent can decide.
 */
export function cloudEventJson({ source, publicUrl }: Sender, event: CommittedEvent): string {
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
    ...linkTo(publicUrl, envelope),
    data: eventView(event),
  });
}

function linkTo(publicUrl: string | null, { approvalId, toolCallId, eventType }: EventEnvelope): { link?: string } {
  if (publicUrl === null) return {};
  if (approvalId !== undefined && eventType.startsWith('approval.')) {
    return { link: `${publicUrl}/v1/approvals/${approvalId}` };
  }
  return toolCallId === undefined ? {} : { link: `${publicUrl}/v1/tool-calls/${toolCallId}` };
}
