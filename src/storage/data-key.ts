import { ID_PREFIXES, isId } from '../domain/ids/ids.js';

/** What `data_keys` holds of one key. */
export interface DataKeyRow {
  readonly data_key_id: string;
  readonly scope: string;
  readonly wrapped: Uint8Array;
  readonly kek_id: string;
}

/**
 * Whose payloads one key seals: a session's (an implicit run is its own session), else the tenant's. Other session ids are words
 * of their callers and may be the same in two tenants, which never share a key.
 */
export function dataKeyScope(tenant: string, sessionId: string | undefined): string {
  if (sessionId === undefined) return `tenant/${tenant}`;
  const isOurOwn: boolean = isId(ID_PREFIXES.run, sessionId);
  return isOurOwn ? `session/${sessionId}` : `session/${tenant}/${sessionId}`;
}

/** Bound to the wrapped key: it cannot be moved to another id or scope. */
export function dataKeyContext(dataKeyId: string, scope: string): string {
  return `countersign/data-key/${dataKeyId}/${scope}`;
}
