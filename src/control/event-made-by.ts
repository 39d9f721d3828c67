import { CountersignError } from '../domain/errors/countersign-error.js';
import type { EventType } from '../domain/events/catalogue.js';
import type { StoreReader } from '../storage/readers/store-reader.js';

type Found = NonNullable<Awaited<ReturnType<StoreReader['event']>>>;

/**
 * The event of this type in the unit of a command that was accepted: what a command made is read from what was written, so that
 * the same command sent again, also at the same moment, is answered alike. @throws CountersignError `internal` when there is none
 */
export async function eventMadeBy(
  read: Pick<StoreReader, 'command' | 'event' | 'unitEventIds'>,
  tenant: string,
  commandId: string,
  type: EventType,
): Promise<Found> {
  const command = await read.command(tenant, commandId);
  const accepted = command === null ? null : await read.event(tenant, command.event_id);
  const ids = accepted === null ? [] : await read.unitEventIds(tenant, accepted.envelope.unitId);
  for (const id of ids) {
    const event = await read.event(tenant, id);
    if (event?.envelope.eventType === type) return event;
  }
  throw new CountersignError('internal', `a command on record has made no ${type}`);
}
