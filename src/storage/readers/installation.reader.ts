import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import type { InstallationReader } from './store-reader.js';

export function installationReader(connection: ReadConnection): InstallationReader {
  return {
    capability: (name) =>
      connection.one<TableRow<'capabilities'>>(
        `SELECT * FROM capabilities WHERE name = ? AND state <> 'superseded'`,
        name,
      ),
    heldCapabilities: async () => {
      const rows = await connection.many<{ name: string }>(
        `SELECT name FROM capabilities WHERE state = 'held' ORDER BY name`,
      );
      return rows.map(({ name }) => name);
    },
    capabilityVersion: (name, version) =>
      connection.one<TableRow<'capabilities'>>(
        'SELECT * FROM capabilities WHERE name = ? AND version = ?',
        name,
        version,
      ),
    activePolicy: (scope) =>
      connection.one<TableRow<'policy_active'>>('SELECT * FROM policy_active WHERE scope = ?', scope),
    pauses: () => connection.many<TableRow<'pauses'>>('SELECT * FROM pauses ORDER BY tenant, target_kind, target'),
    meta: async (name) => {
      const row = await connection.one<TableRow<'meta'>>('SELECT * FROM meta WHERE name = ?', name);
      return row?.value ?? null;
    },
    counter: async (tenant, key) => {
      const row = await connection.one<TableRow<'counters'>>(
        'SELECT * FROM counters WHERE tenant = ? AND counter_key = ?',
        tenant,
        key,
      );
      return row?.value ?? 0;
    },
    instances: () => connection.many<TableRow<'instances'>>('SELECT * FROM instances ORDER BY epoch'),
  };
}
