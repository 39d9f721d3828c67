import { join } from 'node:path';
import { CountersignError } from '../../../domain/errors/countersign-error.js';
import { safeSessionName, safeTenantName, sessionIdProblem } from '../../../domain/session/session-id.js';
import type { SessionKey } from '../../../domain/session/session-key.js';

export const LOG_SUFFIX = '.jsonl';

/** Where the log of one session lies. */
export interface LogPath {
  readonly directory: string;
  readonly file: string;
  /** What becomes the file when it is complete. */
  readonly draft: string;
}

/** `root` is absolute. Throws `invalid_session_id` before anything is touched. */
export function logPath(root: string, { tenant, sessionId }: SessionKey): LogPath {
  const problem = sessionIdProblem(sessionId);
  if (problem !== null) throw new CountersignError('invalid_session_id', problem);
  const directory = tenantDirectory(root, tenant);
  const file = join(directory, `${safeSessionName(sessionId)}${LOG_SUFFIX}`);
  return { directory, file, draft: `${file}.new` };
}

export const tenantDirectory = (root: string, tenant: string): string => join(root, safeTenantName(tenant));
