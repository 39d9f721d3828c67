import { timingSafeEqual } from 'node:crypto';
import type { CommittedEvent } from '../../domain/events/envelope.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { payloadCommitment } from '../../ledger/core/leaf.js';
import type { ReadConnection } from '../read-connection.js';
import { envelopeFromRow } from '../rows/event.row.js';
import type { EventRow } from '../rows/event.row.js';
import { sealingContext, unseal } from '../sealing.js';
import type { OpenedKeys } from './opened-keys.js';
import type { EventReader } from './store-reader.js';

export type PlacedRow = EventRow & { readonly idx: number };

const EVENTS = 'SELECT p.idx, e.* FROM events AS e JOIN positions AS p ON p.event_id = e.event_id';
const EVENTS_IN_ORDER = 'SELECT p.idx, e.* FROM positions AS p JOIN events AS e ON e.event_id = p.event_id';

export function eventReader(connection: ReadConnection, keys: OpenedKeys): EventReader {
  const opened = (rows: readonly PlacedRow[]): Promise<CommittedEvent[]> =>
    Promise.all(rows.map((row) => openedEvent(row, keys)));
  return {
    event: async (tenant, eventId) => {
      const row = await connection.one<PlacedRow>(`${EVENTS} WHERE e.event_id = ? AND e.tenant = ?`, eventId, tenant);
      return row === null ? null : openedEvent(row, keys);
    },
    positionOf: async (tenant, eventId) => {
      const row = await connection.one<{ idx: number }>(
        'SELECT p.idx FROM positions AS p JOIN events AS e ON e.event_id = p.event_id WHERE p.event_id = ? AND e.tenant = ?',
        eventId,
        tenant,
      );
      return row?.idx ?? null;
    },
    streamVersion: async (stream) => {
      const row = await connection.one<{ version: number }>(
        'SELECT version FROM events WHERE stream_kind = ? AND stream_id = ? ORDER BY version DESC LIMIT 1',
        stream.kind,
        stream.id,
      );
      return row?.version ?? 0;
    },
    unitEventIds: async (tenant, unitId) => {
      const rows = await connection.many<{ event_id: string }>(
        `SELECT event_id FROM events WHERE unit_id = ? AND command_id IS NOT NULL AND tenant = ? ORDER BY unit_index`,
        unitId,
        tenant,
      );
      return rows.map((row) => row.event_id);
    },
    streamEvents: async (tenant, stream) =>
      opened(
        await connection.many<PlacedRow>(
          `${EVENTS} WHERE e.stream_kind = ? AND e.stream_id = ? AND e.tenant = ? ORDER BY e.version`,
          stream.kind,
          stream.id,
          tenant,
        ),
      ),
    eventsAfter: async (position, limit, tenant) =>
      opened(
        tenant === null
          ? await connection.many<PlacedRow>(
              `${EVENTS_IN_ORDER} WHERE p.idx > ? ORDER BY p.idx LIMIT ?`,
              position,
              limit,
            )
          : await connection.many<PlacedRow>(
              `${EVENTS_IN_ORDER} WHERE p.idx > ? AND e.tenant = ? ORDER BY p.idx LIMIT ?`,
              position,
              tenant,
              limit,
            ),
      ),
  };
}

export async function openedEvent(row: PlacedRow, keys: OpenedKeys): Promise<CommittedEvent> {
  const envelope = envelopeFromRow(row);
  const plain = unseal(await keys.key(row.data_key_id), sealingContext(envelope), row.payload_sealed);
  if (!timingSafeEqual(payloadCommitment(row.salt, plain), row.payload_commitment)) {
    throw new Error('a payload does not match its commitment');
  }
  const payload = JSON.parse(Buffer.from(plain).toString('utf8')) as JsonObject;
  return { position: row.idx, envelope, payload };
}
