import type { CommittedEvent } from '../../domain/events/envelope.js';
import type { TableRow } from '../rows/tables.js';

/** An event of a session as its log repeats it. */
export interface SessionFactRecord {
  readonly event: CommittedEvent;
  /** Hex: what the leaf of the event commits to. */
  readonly payloadCommitment: string;
}

/** What is governed about durable sessions. */
export interface SessionReader {
  session(tenant: string, sessionId: string): Promise<TableRow<'sessions'> | null>;
  /** Of one principal, or of all; the newest first. `before` is `created_at` and `session_id` of the last one seen. */
  sessions(
    tenant: string,
    principal: string | null,
    before: readonly [createdAt: string, sessionId: string] | null,
    limit: number,
  ): Promise<readonly TableRow<'sessions'>[]>;
  /** The run of the session that has not ended. */
  openRunOfSession(tenant: string, sessionId: string): Promise<TableRow<'runs'> | null>;
  /** The oldest first. */
  openCheckpoints(tenant: string, runId: string): Promise<readonly TableRow<'checkpoints'>[]>;
  checkpoint(tenant: string, checkpointId: string): Promise<TableRow<'checkpoints'> | null>;
  /** All tenants: runs of sessions that are on their way to a suspension, by run id. */
  suspendingRuns(limit: number): Promise<readonly TableRow<'runs'>[]>;
  /** Events of the session at positions above `after`, in order; the work grows with the session. */
  sessionEvents(tenant: string, sessionId: string, after: number, limit: number): Promise<readonly SessionFactRecord[]>;
  /** The same up to and including position `upTo`; the work grows with that window. */
  sessionEventsBetween(
    tenant: string,
    sessionId: string,
    after: number,
    upTo: number,
  ): Promise<readonly SessionFactRecord[]>;
}

/** Open checkpoints of a run; runs that calls opened have none, and nothing is asked for them. */
export async function openCheckpointsOf(
  read: Pick<SessionReader, 'openCheckpoints'>,
  { tenant, run_id: runId, session_id: sessionId }: TableRow<'runs'>,
): Promise<readonly TableRow<'checkpoints'>[]> {
  return sessionId === runId ? [] : read.openCheckpoints(tenant, runId);
}
