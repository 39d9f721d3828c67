import type { ReadConnection } from '../read-connection.js';
import { envelopeFromRow } from '../rows/event.row.js';
import type { TableRow } from '../rows/tables.js';
import { openedEvent, type PlacedRow } from './event.reader.js';
import { PayloadKeyGone, type OpenedKeys } from './opened-keys.js';
import type { PolicyReader, ReadDecision } from './policy-records.js';

const PLACED = 'SELECT p.idx, e.* FROM positions AS p JOIN events AS e ON e.event_id = p.event_id';

/** Ids rise over all kinds together, so the event of a decision follows the decision's id closely. */
const EVENTS_AFTER_ID = 64;

export function policyReader(connection: ReadConnection, keys: OpenedKeys): PolicyReader {
  const opened = (rows: readonly PlacedRow[]): Promise<ReadDecision[]> =>
    Promise.all(rows.map((row) => openedDecision(row, keys)));
  return {
    ...policyRows(connection),
    decisionsIn: async ({ from, below, since, until }) =>
      opened(
        await connection.many<PlacedRow>(
          `${PLACED} WHERE p.idx >= ? AND p.idx < ? AND e.event_type = 'policy.decided'
           AND e.recorded_at >= ? AND e.recorded_at < ? ORDER BY p.idx DESC`,
          from,
          below,
          since ?? '',
          until ?? '~',
        ),
      ),
    decision: async (tenant, policyDecisionId) => {
      const after = `evt_${policyDecisionId.slice(policyDecisionId.indexOf('_') + 1)}`;
      const rows = await connection.many<PlacedRow>(
        `SELECT p.idx, e.* FROM (SELECT * FROM events WHERE event_id > ? ORDER BY event_id LIMIT ${EVENTS_AFTER_ID}) AS e
         JOIN positions AS p ON p.event_id = e.event_id
         WHERE e.policy_decision_id = ? AND e.tenant = ? AND e.event_type = 'policy.decided'`,
        after,
        policyDecisionId,
        tenant,
      );
      return (await opened(rows))[0] ?? null;
    },
    decisionsOf: async (tenant, toolCallId) =>
      opened(
        await connection.many<PlacedRow>(
          `SELECT p.idx, e.* FROM events AS e JOIN positions AS p ON p.event_id = e.event_id
           WHERE e.stream_kind = 'call' AND e.stream_id = ? AND e.tenant = ? AND e.event_type = 'policy.decided'
           ORDER BY e.version`,
          toolCallId,
          tenant,
        ),
      ),
  };
}

function policyRows(connection: ReadConnection): Omit<PolicyReader, 'decisionsIn' | 'decision' | 'decisionsOf'> {
  return {
    policySet: (revision) =>
      connection.one<TableRow<'policy_sets'>>('SELECT * FROM policy_sets WHERE revision = ?', revision),
    policyActivation: (activationId) =>
      connection.one<TableRow<'policy_activations'>>(
        'SELECT * FROM policy_activations WHERE activation_id = ?',
        activationId,
      ),
    openPolicyActivations: (limit) =>
      connection.many<TableRow<'policy_activations'>>(
        `SELECT * FROM policy_activations WHERE state = 'proposed' ORDER BY decide_by LIMIT ?`,
        limit,
      ),
    policyShadow: (scope) =>
      connection.one<TableRow<'policy_shadow'>>('SELECT * FROM policy_shadow WHERE scope = ?', scope),
    shadowFlips: (revision) =>
      connection.many<TableRow<'policy_shadow_flips'>>(
        'SELECT * FROM policy_shadow_flips WHERE revision = ? ORDER BY from_outcome, to_outcome',
        revision,
      ),
    shadowDifferences: (revision, limit) =>
      connection.many<TableRow<'policy_shadow_differences'>>(
        'SELECT * FROM policy_shadow_differences WHERE revision = ? ORDER BY sequence DESC LIMIT ?',
        revision,
        limit,
      ),
    shadowSequence: async () => {
      const row = await connection.one<{ sequence: number | null }>(
        'SELECT max(sequence) AS sequence FROM policy_shadow_differences',
      );
      return row?.sequence ?? 0;
    },
  };
}

/** What was erased is still a decision that was made; everything else that does not open is a broken record. */
async function openedDecision(row: PlacedRow, keys: OpenedKeys): Promise<ReadDecision> {
  try {
    return await openedEvent(row, keys);
  } catch (error) {
    if (!(error instanceof PayloadKeyGone)) throw error;
    return { position: row.idx, envelope: envelopeFromRow(row), payload: null };
  }
}
