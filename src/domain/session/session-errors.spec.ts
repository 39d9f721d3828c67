import { describe, expect, it } from '@jest/globals';
import { CountersignError } from '../errors/countersign-error.js';
import { ERRORS } from '../errors/error-codes.js';
import {
  CodecError,
  CorruptionError,
  SESSION_ERRORS,
  SessionError,
  sessionErrorKind,
  UnsupportedVersionError,
} from './session-errors.js';

describe('errors of sessions', () => {
  it.each([
    ['session_not_found', 'storage', 'never'],
    ['state_corrupt', 'storage', 'never'],
    ['state_save_failed', 'storage', 'conditional'],
    ['invalid_session_id', 'storage', 'never'],
    ['schema_version_unsupported', 'storage', 'never'],
    ['message_empty_contents', 'codec', 'never'],
    ['session_log_corrupt', 'session', 'never'],
    ['session_format_unsupported', 'session', 'never'],
    ['session_identity_mismatch', 'session', 'never'],
    ['session_id_collision', 'session', 'never'],
    ['session_live_open_turn', 'session', 'never'],
    ['seq_conflict', 'session', 'conditional'],
    ['revision_stale', 'session', 'conditional'],
    ['owner_epoch_stale', 'session', 'conditional'],
    ['session_owned_elsewhere', 'session', 'conditional'],
    ['snapshot_ahead_of_log', 'session', 'never'],
    ['log_missing_for_snapshot', 'session', 'never'],
    ['history_unpaired', 'session', 'never'],
    ['state_not_serializable', 'session', 'never'],
    ['secret_in_payload', 'session', 'never'],
    ['durability_failed', 'session', 'conditional'],
    ['write_behind_saturated', 'session', 'conditional'],
    ['persistence_closed', 'session', 'conditional'],
    ['event_type_unknown', 'event', 'never'],
    ['event_schema_invalid', 'event', 'never'],
    ['producer_not_allowed', 'event', 'never'],
    ['dangling_reference', 'event', 'never'],
    ['duplicate_id', 'event', 'never'],
    ['raw_artifact_unsupported', 'storage', 'never'],
  ] as const)('%s belongs to %s and helps %s when asked again [A-64, A-65, U-35]', (code, layer, retryability) => {
    expect(sessionErrorKind(code)).toEqual({ layer, retryability });
  });

  it('are all errors that a user can meet', () => {
    expect(Object.keys(SESSION_ERRORS).filter((code) => !Object.hasOwn(ERRORS, code))).toEqual([]);
    expect(sessionErrorKind('rate_limited')).toBeNull();
  });

  it('carry their cause, and none where there is none', () => {
    const cause = new CodecError('history_type', '/history is not an object.', '/history');
    const error = new CorruptionError('state_corrupt', 'broken', { cause, details: { problems: ['x'] } });
    expect(error).toBeInstanceOf(CountersignError);
    expect(error).toMatchObject({
      code: 'state_corrupt',
      cause: { code: 'history_type' },
      details: { problems: ['x'] },
    });
    expect(new SessionError('session_not_found', 'none')).not.toHaveProperty('cause');
  });

  it('of an unsupported version are no corruption, and tell what was found and what is current [A-76, U-09]', () => {
    const error = new UnsupportedVersionError('session_format_unsupported', 'The log', 9, 1);
    expect(error).not.toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ found: 9, current: 1, details: { problems: ['found 9', 'current 1'] } });
    expect(error.message).toMatch(/9.*1.*newer version/u);
  });
});
