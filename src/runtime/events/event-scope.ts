import type { EventType } from '../../domain/events/catalogue.js';
import type { EventEnvelope } from '../../domain/events/envelope.js';
import { runOf } from '../../domain/events/event-view.js';
import { INSTALLATION } from '../../storage/units/unit-desk.js';

/** Which events a reader may see and wants to see. */
export interface EventScope {
  readonly tenant: string;
  /** Whether the events that belong to no tenant are among them. */
  readonly installation: boolean;
  /** Only the events of this run; null: of every run and of none. */
  readonly runId: string | null;
  /** Only events of these types; null: of all. */
  readonly types: ReadonlySet<EventType> | null;
}

export function isInScope(scope: EventScope, envelope: EventEnvelope): boolean {
  const ofTenant = envelope.tenant === scope.tenant || (scope.installation && envelope.tenant === INSTALLATION);
  return (
    ofTenant &&
    (scope.runId === null || runOf(envelope) === scope.runId) &&
    (scope.types === null || scope.types.has(envelope.eventType))
  );
}
