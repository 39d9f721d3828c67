import type { JsonObject } from '../json/json-value.js';
import { CATALOGUE, type DomainEvent, type EventType, type EventTypeIn } from './catalogue.js';
import type { StreamKind } from './event-definition.js';
import { payloadProblem } from './payload-shape.js';

/** The events of one stream kind, as a union of their own. */
export type EventIn<K extends StreamKind> = Extract<DomainEvent, { readonly type: EventTypeIn<K> }>;

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(CATALOGUE, type);
}

/** Narrows an event to the stream that folds it. */
export function isIn<K extends StreamKind>(kind: K, event: DomainEvent): event is EventIn<K> {
  return CATALOGUE[event.type].stream === kind;
}

/**
 * A stored event as the fact it is, ready to be folded. Throws a plain `Error` when the type is not registered or the
 * payload does not fit it: such a row was not written by us.
 */
export function domainEventOf(type: string, payload: JsonObject): DomainEvent {
  if (!isEventType(type)) throw new Error(`event type ${type} is not registered`);
  const problem = payloadProblem(CATALOGUE[type].shape, payload);
  if (problem !== null) throw new Error(`payload of ${type}: ${problem}`);
  return { type, payload } as DomainEvent;
}
