import { CATALOGUE } from '../domain/events/catalogue.js';
import type { CommittedEvent, NewEvent, StreamRef } from '../domain/events/envelope.js';
import type { CommittedUnit } from './feed.js';
import { envelopeOf } from './rows/envelope.js';

/** One event of a durable unit and where it stands. */
export interface UnitEvent {
  readonly durable: CommittedUnit;
  readonly event: NewEvent;
  readonly stream: StreamRef;
  readonly version: number;
  readonly unitIndex: number;
}

/** The events of a durable unit in reading order: as cheap as looking at them. */
export function* unitEvents(durable: CommittedUnit): Generator<UnitEvent, void> {
  let unitIndex = 0;
  for (const { stream, expectedVersion, events } of durable.unit.appends) {
    for (let index = 0; index < events.length; index += 1) {
      const event = events[index] as NewEvent;
      yield { durable, event, stream, version: expectedVersion + index + 1, unitIndex };
      unitIndex += 1;
    }
  }
}

/** The event as the store gives it back. `versionSetId` is the one thing that only the store knows. */
export function committedEvent(placed: UnitEvent, versionSetId: string): CommittedEvent {
  const { durable, event, stream, version, unitIndex } = placed;
  const { unit, committed } = durable;
  const envelope = envelopeOf(event, {
    unit,
    unitIndex,
    unitSize: committed.eventCount,
    stream,
    version,
    schemaVersion: CATALOGUE[event.type].schemaVersion,
    recordedAt: committed.recordedAt,
    versionSetId,
  });
  return { position: committed.firstPosition + unitIndex, envelope, payload: event.payload };
}

/** The events of a durable unit, for views: none shows the version set, so none is named. */
export function eventsOfUnit(durable: CommittedUnit): CommittedEvent[] {
  return Array.from(unitEvents(durable), (placed) => committedEvent(placed, ''));
}
