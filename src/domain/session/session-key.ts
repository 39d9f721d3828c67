/** One session of one tenant. Ids of sessions are chosen by their callers and unique within the tenant only. */
export interface SessionKey {
  readonly tenant: string;
  readonly sessionId: string;
}
