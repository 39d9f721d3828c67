import type { ReadConnection } from '../read-connection.js';
import type { TableRow } from '../rows/tables.js';
import type { SecretReader } from './secret-records.js';

export function secretReader(connection: ReadConnection): SecretReader {
  return {
    secrets: (tenant) =>
      connection.many<TableRow<'secrets'>>('SELECT * FROM secrets WHERE tenant = ? ORDER BY name, version', tenant),
    revokedTokens: (now) =>
      connection.many<TableRow<'revoked_tokens'>>(
        'SELECT * FROM revoked_tokens WHERE until > ? ORDER BY revoked_at, revocation_id',
        now,
      ),
  };
}
