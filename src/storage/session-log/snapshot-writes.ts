import type { SessionWrite } from './session-log-messages.js';
import type { SessionLogStatements } from './session-log-statements.js';

export type SnapshotWrite = Extract<
  SessionWrite,
  { readonly kind: 'save_snapshot' | 'mark_snapshot' | 'delete_snapshot' }
>;

/** Inside the transaction of the writer. */
export function writeSnapshot(statements: SessionLogStatements, write: SnapshotWrite): void {
  const { tenant, sessionId } = write.key;
  switch (write.kind) {
    case 'save_snapshot':
      statements.demote.run(tenant, sessionId);
      statements.saveMain.run(tenant, sessionId, write.content, write.savedAt);
      statements.unmark.run(tenant, sessionId);
      return;
    case 'mark_snapshot':
      statements.mark.run(tenant, sessionId, write.at);
      return;
    case 'delete_snapshot':
      statements.removeSnapshots.run(tenant, sessionId);
      statements.unmark.run(tenant, sessionId);
      return;
  }
}
