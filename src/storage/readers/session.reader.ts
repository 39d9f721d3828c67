import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import { openedEvent, type PlacedRow } from './event.reader.js';
import type { OpenedKeys } from './opened-keys.js';
import type { SessionFactRecord, SessionReader } from './session-records.js';
import { wordList } from './sql-words.js';

const RUN_IS_OPEN = `status IN ${wordList('running', 'suspending', 'suspended', 'interrupted', 'stopping')}`;

export function sessionReader(connection: ReadConnection, keys: OpenedKeys): SessionReader {
  const records = (rows: readonly PlacedRow[]): Promise<SessionFactRecord[]> =>
    Promise.all(
      rows.map(async (row) => ({
        event: await openedEvent(row, keys),
        payloadCommitment: Buffer.from(row.payload_commitment).toString('hex'),
      })),
    );
  return {
    ...sessionRows(connection),
    sessionEvents: async (tenant, sessionId, after, limit) =>
      records(
        await connection.many<PlacedRow>(
          `SELECT p.idx, e.* FROM events AS e INDEXED BY events_session JOIN positions AS p ON p.event_id = e.event_id
           WHERE e.tenant = ? AND e.session_id = ? AND e.session_id IS NOT e.run_id AND p.idx > ?
           ORDER BY p.idx LIMIT ?`,
          tenant,
          sessionId,
          after,
          limit,
        ),
      ),
    sessionEventsBetween: async (tenant, sessionId, after, upTo) =>
      records(
        await connection.many<PlacedRow>(
          `SELECT p.idx, e.* FROM positions AS p CROSS JOIN events AS e ON e.event_id = p.event_id
           WHERE p.idx > ? AND p.idx <= ? AND e.session_id = ? AND e.tenant = ? ORDER BY p.idx`,
          after,
          upTo,
          sessionId,
          tenant,
        ),
      ),
  };
}

function sessionRows(connection: ReadConnection): Omit<SessionReader, 'sessionEvents' | 'sessionEventsBetween'> {
  return {
    session: (tenant, sessionId) =>
      connection.one<TableRow<'sessions'>>(
        'SELECT * FROM sessions WHERE tenant = ? AND session_id = ?',
        tenant,
        sessionId,
      ),
    sessions: (tenant, principal, before, limit) =>
      connection.many<TableRow<'sessions'>>(
        `SELECT * FROM sessions WHERE tenant = ? AND (? IS NULL OR principal = ?)
           AND (? IS NULL OR (created_at, session_id) < (?, ?))
         ORDER BY created_at DESC, session_id DESC LIMIT ?`,
        tenant,
        principal,
        principal,
        before?.[0] ?? null,
        before?.[0] ?? null,
        before?.[1] ?? null,
        limit,
      ),
    openRunOfSession: (tenant, sessionId) =>
      connection.one<TableRow<'runs'>>(
        `SELECT * FROM runs WHERE tenant = ? AND session_id = ? AND session_id <> run_id AND ${RUN_IS_OPEN}`,
        tenant,
        sessionId,
      ),
    openCheckpoints: (tenant, runId) =>
      connection.many<TableRow<'checkpoints'>>(
        `SELECT * FROM checkpoints WHERE run_id = ? AND status = 'open' AND tenant = ?
         ORDER BY created_at, checkpoint_id`,
        runId,
        tenant,
      ),
    checkpoint: (tenant, checkpointId) =>
      connection.one<TableRow<'checkpoints'>>(
        'SELECT * FROM checkpoints WHERE checkpoint_id = ? AND tenant = ?',
        checkpointId,
        tenant,
      ),
    suspendingRuns: (limit) =>
      connection.many<TableRow<'runs'>>(
        `SELECT * FROM runs WHERE status = 'suspending' AND session_id <> run_id ORDER BY run_id LIMIT ?`,
        limit,
      ),
  };
}
