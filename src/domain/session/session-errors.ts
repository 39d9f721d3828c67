import { CountersignError, type ErrorDetails } from '../errors/countersign-error.js';
import type { ErrorCode } from '../errors/error-codes.js';

export type Retryability = 'never' | 'conditional' | 'always';

/** Where an error was born and whether asking again can help. */
export interface ErrorKind {
  readonly layer: 'storage' | 'codec' | 'session' | 'event';
  readonly retryability: Retryability;
}

const kind = (layer: ErrorKind['layer'], retryability: Retryability): ErrorKind => ({ layer, retryability });

/** The errors of sessions and of what keeps them. `conditional`: the same request may succeed once something else has changed. */
export const SESSION_ERRORS = {
  session_not_found: kind('storage', 'never'),
  state_corrupt: kind('storage', 'never'),
  state_save_failed: kind('storage', 'conditional'),
  invalid_session_id: kind('storage', 'never'),
  schema_version_unsupported: kind('storage', 'never'),
  raw_artifact_unsupported: kind('storage', 'never'),
  message_empty_contents: kind('codec', 'never'),
  state_not_serializable: kind('session', 'never'),
  secret_in_payload: kind('session', 'never'),
  history_unpaired: kind('session', 'never'),
  session_log_corrupt: kind('session', 'never'),
  session_format_unsupported: kind('session', 'never'),
  session_identity_mismatch: kind('session', 'never'),
  session_id_collision: kind('session', 'never'),
  session_live_open_turn: kind('session', 'never'),
  session_exists: kind('session', 'never'),
  session_deleted: kind('session', 'never'),
  snapshot_ahead_of_log: kind('session', 'never'),
  log_missing_for_snapshot: kind('session', 'never'),
  checkpoint_incompatible: kind('session', 'never'),
  seq_conflict: kind('session', 'conditional'),
  revision_stale: kind('session', 'conditional'),
  owner_epoch_stale: kind('session', 'conditional'),
  session_owned_elsewhere: kind('session', 'conditional'),
  write_behind_saturated: kind('session', 'conditional'),
  persistence_closed: kind('session', 'conditional'),
  durability_failed: kind('session', 'conditional'),
  event_type_unknown: kind('event', 'never'),
  event_schema_invalid: kind('event', 'never'),
  producer_not_allowed: kind('event', 'never'),
  dangling_reference: kind('event', 'never'),
  duplicate_id: kind('event', 'never'),
} as const satisfies Partial<Record<ErrorCode, ErrorKind>>;

export type SessionErrorCode = keyof typeof SESSION_ERRORS;

/** Null for a code that is no error of a session. */
export function sessionErrorKind(code: ErrorCode): ErrorKind | null {
  return Object.hasOwn(SESSION_ERRORS, code) ? SESSION_ERRORS[code as SessionErrorCode] : null;
}

/** An error of a session with what made it; the cause is for logs and never reaches a caller. */
export class SessionError extends CountersignError {
  constructor(code: SessionErrorCode, message: string, more: { details?: ErrorDetails; cause?: unknown } = {}) {
    super(code, message, more.details);
    if (more.cause !== undefined) this.cause = more.cause;
  }
}

/** What was written is not what is there: it is not repaired, and nothing older takes its place unseen. */
export class CorruptionError extends SessionError {}

/**
 * A newer program wrote it. Never corruption: nobody may wrap this, read something older instead, rebuild it or cut it.
 * `found` and `current` are numbers of the version named by `what`.
 */
export class UnsupportedVersionError extends SessionError {
  constructor(
    code: 'schema_version_unsupported' | 'session_format_unsupported',
    what: string,
    readonly found: number,
    readonly current: number,
  ) {
    const message = `${what} has version ${found}; this program reads up to ${current}. A newer version is required.`;
    super(code, message, { details: { problems: [`found ${found}`, `current ${current}`] } });
  }
}

/** What a codec found, as the cause of an error: its own code and the place, never a value. */
export class CodecError extends Error {
  override readonly name = 'CodecError';

  constructor(
    readonly code: string,
    message: string,
    /** RFC 6901 pointer. */
    readonly path: string,
  ) {
    super(message);
  }
}
