import type { EventPayload } from '../../domain/events/catalogue.js';
import { legOf, type Leg } from '../../proxy/core/stop-leg.js';
import type { StoreReader } from '../../storage/readers/store-reader.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { callFromRow } from '../../storage/units/load.js';

/** How far the stop of a run has come, read from what is recorded about each of its calls. */
export interface StopView {
  readonly requestedAt: string;
  readonly requestedBy: string;
  readonly model: 'idle' | 'active' | 'cancelled';
  readonly calls: readonly { readonly toolCallId: string; readonly leg: Leg }[];
}

/** Calls shown; a run with more has them all in its list of calls. */
const SHOWN_MAX = 200;

/** Null when the history has no request; a leg is what the call shows now, so a late result shows as finished. */
export async function stopView(read: StoreReader, run: TableRow<'runs'>): Promise<StopView | null> {
  const events = await read.streamEvents(run.tenant, { kind: 'run', id: run.run_id });
  const request = events.find(({ envelope }) => envelope.eventType === 'stop.requested');
  if (request === undefined) return null;
  const { occurredAt } = request.envelope;
  const rows = await read.callsInStop(run.tenant, run.run_id, occurredAt);
  const calls = await Promise.all(
    rows.slice(0, SHOWN_MAX).map(async (row) => {
      const { state } = await callFromRow(read, row);
      return { toolCallId: row.tool_call_id, leg: legOf(state, false).leg };
    }),
  );
  const { requestedBy } = request.payload as unknown as EventPayload<'stop.requested'>;
  return { requestedAt: occurredAt, requestedBy, model: run.model_leg, calls };
}
