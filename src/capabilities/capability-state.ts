import type { Producer } from '../domain/events/catalogue.js';
import type { TableRow } from '../storage/rows/tables.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';

/** Holds or releases the version in force: the event, and the row that every dispatch guards. */
export function moveCapability(
  draft: UnitDraft,
  row: TableRow<'capabilities'>,
  to: 'held' | 'released',
  reason: string,
  producer: Producer,
): void {
  const { name, version, stream_version: streamVersion } = row;
  const stream = { kind: 'capability', id: name } as const;
  const payload = { capabilityVersion: version, reason };
  const type = to === 'held' ? ('capability.held' as const) : ('capability.released' as const);
  const [eventId] = draft.append(
    stream,
    streamVersion,
    [{ type, payload }],
    { capabilityId: `${name}@${version}` },
    producer,
  );
  draft.write({
    op: 'set',
    table: 'capabilities',
    where: { name, version, stream_version: streamVersion },
    set: {
      state: to === 'held' ? 'held' : 'active',
      stream_version: streamVersion + 1,
      last_event_id: eventId as string,
      updated_at: draft.context.occurredAt,
    },
    guard: 'capability',
  });
}
