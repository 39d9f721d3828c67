import { join } from 'node:path';
import { sessionDatabaseEpoch } from '../../storage/session-log/session-database-epoch.js';
import { NODE_LOG_FILES } from './jsonl/node-log-files.js';
import { OwnerFence } from './jsonl/owner-fence.js';

/**
 * The highest epoch under which a process has worked on session logs of this data directory; 0: none has. A store that was restored
 * from a backup has forgotten it, and would otherwise begin again with epochs that the logs take for those of a process long gone.
 */
export async function knownSessionEpoch(dataDir: string): Promise<number> {
  const inFiles = await new OwnerFence(NODE_LOG_FILES, join(dataDir, 'sessions'), 0).known();
  return Math.max(inFiles ?? 0, sessionDatabaseEpoch(dataDir));
}
