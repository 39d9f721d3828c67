import Database from 'better-sqlite3';
import { join } from 'node:path';

export interface EventRecord {
  readonly event_type: string;
  readonly tool_call_id: string | null;
  readonly approval_id: string | null;
  readonly command_id: string | null;
  readonly occurred_at: string;
  readonly actor: string;
}

/** What the store holds, read past the product, as a person with a database tool would. Never writes. */
export function eventsOf(
  dataDir: string,
  column: 'tool_call_id' | 'approval_id' | 'command_id' | 'run_id',
  id: string,
): EventRecord[] {
  const database = new Database(join(dataDir, 'countersign.sqlite'), { readonly: true, fileMustExist: true });
  try {
    return database
      .prepare(
        `SELECT e.event_type, e.tool_call_id, e.approval_id, e.command_id, e.occurred_at, e.actor
         FROM events e JOIN positions p ON p.event_id = e.event_id WHERE e.${column} = ? ORDER BY p.idx`,
      )
      .all(id) as EventRecord[];
  } finally {
    database.close();
  }
}

export function eventCount(dataDir: string): number {
  const database = new Database(join(dataDir, 'countersign.sqlite'), { readonly: true, fileMustExist: true });
  try {
    return (database.prepare('SELECT count(*) AS n FROM events').get() as { n: number }).n;
  } finally {
    database.close();
  }
}

export interface AttemptRecord {
  readonly attempt: number;
  readonly state: string;
}

/** The attempts of a call that the store knows of, the first one first. */
export function attemptsOf(dataDir: string, toolCallId: string): AttemptRecord[] {
  const database = new Database(join(dataDir, 'countersign.sqlite'), { readonly: true, fileMustExist: true });
  try {
    return database
      .prepare('SELECT attempt, state FROM attempts WHERE tool_call_id = ? ORDER BY attempt')
      .all(toolCallId) as AttemptRecord[];
  } finally {
    database.close();
  }
}

/** Every event of one type, whoever's it is. */
export function eventsOfType(dataDir: string, type: string): { readonly event_id: string; readonly actor: string }[] {
  const database = new Database(join(dataDir, 'countersign.sqlite'), { readonly: true, fileMustExist: true });
  try {
    return database.prepare('SELECT event_id, actor FROM events WHERE event_type = ?').all(type) as never;
  } finally {
    database.close();
  }
}
