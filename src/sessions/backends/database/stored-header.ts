import { CountersignError } from '../../../domain/errors/countersign-error.js';
import { SESSION_FORMAT_VERSION } from '../../../domain/session/session-catalogue.js';
import type { SessionKey } from '../../../domain/session/session-key.js';
import type { SessionHeader } from '../../../domain/session/session-row.js';
import type { StoredSession } from '../../../storage/session-log/session-database.js';

/** The header of a log after every check: its version before anything else of it is believed, then its checksum, then whose it is. */
export function headerOf(stored: StoredSession, key: SessionKey): SessionHeader {
  const header = parsed(stored.header);
  for (const version of [stored.formatVersion, header?.formatVersion]) {
    if (version !== undefined && version !== SESSION_FORMAT_VERSION) {
      const message = `the log has format ${String(version)}; this program knows ${SESSION_FORMAT_VERSION}`;
      throw new CountersignError('session_format_unsupported', message);
    }
  }
  if (header === null) throw new CountersignError('session_log_corrupt', 'the log has no header at row 0');
  if (header.tenant !== key.tenant || header.sessionId !== key.sessionId) {
    throw new CountersignError('session_identity_mismatch', 'the log is that of another session');
  }
  if (!stored.intact) {
    throw new CountersignError('session_log_corrupt', 'what the table says of the end of the log is damaged');
  }
  return header;
}

function parsed(text: string): SessionHeader | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as SessionHeader) : null;
  } catch {
    return null;
  }
}
