import type { TableRow } from '../rows/tables.js';

/** Secrets in their envelopes, and tokens that count no more: few rows, read at the start and after a change. */
export interface SecretReader {
  /** Of one tenant (`*`: the installation), retired versions too; by name and version. */
  secrets(tenant: string): Promise<readonly TableRow<'secrets'>[]>;
  /** All tenants: revocations of tokens that would not have expired by `now`, the oldest first. */
  revokedTokens(now: string): Promise<readonly TableRow<'revoked_tokens'>[]>;
}
