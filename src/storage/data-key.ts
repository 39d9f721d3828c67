/** What `data_keys` holds of one key. */
export interface DataKeyRow {
  readonly data_key_id: string;
  readonly scope: string;
  readonly wrapped: Uint8Array;
  readonly kek_id: string;
}

/** Whose payloads one key seals: a session's (an implicit run is its own session), else the tenant's. */
export function dataKeyScope(tenant: string, sessionId: string | undefined): string {
  return sessionId === undefined ? `tenant/${tenant}` : `session/${sessionId}`;
}

/** Bound to the wrapped key: it cannot be moved to another id or scope. */
export function dataKeyContext(dataKeyId: string, scope: string): string {
  return `countersign/data-key/${dataKeyId}/${scope}`;
}
