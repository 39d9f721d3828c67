import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import type { ProposalReader } from './store-reader.js';

export function proposalReader(connection: ReadConnection): ProposalReader {
  return {
    idempotency: (tenant, principal, capability, keyHash) =>
      connection.one<TableRow<'idempotency'>>(
        'SELECT * FROM idempotency WHERE tenant = ? AND principal = ? AND capability = ? AND key_hash = ?',
        tenant,
        principal,
        capability,
        keyHash,
      ),
    openIntents: (tenant, principal, capability, intentDigest) =>
      connection.many<TableRow<'open_intents'>>(
        `SELECT * FROM open_intents WHERE tenant = ? AND principal = ? AND capability = ? AND intent_digest = ?
         ORDER BY ordinal`,
        tenant,
        principal,
        capability,
        intentDigest,
      ),
    callId: (tenant, runId, turnId, callId) =>
      connection.one<TableRow<'call_ids'>>(
        `SELECT i.* FROM call_ids AS i JOIN tool_calls AS c ON c.tool_call_id = i.tool_call_id
         WHERE i.run_id = ? AND i.turn_id = ? AND i.call_id = ? AND c.tenant = ?`,
        runId,
        turnId,
        callId,
        tenant,
      ),
    command: (tenant, commandId) =>
      connection.one<TableRow<'control_commands'>>(
        'SELECT * FROM control_commands WHERE tenant = ? AND command_id = ?',
        tenant,
        commandId,
      ),
  };
}
