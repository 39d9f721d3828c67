import { hash } from 'node:crypto';
import type { SessionKey } from '../session-key.js';
import {
  AGENT_STATE_VERSION,
  RUN_STATE_VERSION,
  SNAPSHOT_ENVELOPE_VERSION,
  type SessionSnapshot,
} from '../session-state.js';
import { layoutOf, readAgentState } from './agent-state-codec.js';
import { attempt, refuseField, type CodecResult } from './codec-result.js';
import { FieldReader, isFields } from './field-reader.js';
import { NO_SECRETS, requirePlain, type SecretTest } from './plain-json.js';
import { readRunState } from './run-state-codec.js';
import { requireReadable, versionOf } from './schema-version.js';

type Fields = Readonly<Record<string, unknown>>;

/** The newest versions a reader accepts; another one only where a test stands in for an older program. */
export interface ReadableVersions {
  readonly envelope: number;
  readonly agentState: number;
  readonly runState: number;
}

export const CURRENT_VERSIONS: ReadableVersions = {
  envelope: SNAPSHOT_ENVELOPE_VERSION,
  agentState: AGENT_STATE_VERSION,
  runState: RUN_STATE_VERSION,
};

const DIGEST_LEAD = '{"contentDigest":"';
const DIGEST_UNITS = 64;
const CONTENT_AT = DIGEST_LEAD.length + DIGEST_UNITS + 2;

/**
 * The text of a snapshot: one JSON object that begins with the SHA-256 of everything behind it. Only known fields are written,
 * always in the current versions, without media. Whatever decoding would refuse is refused here: `message_empty_contents`,
 * `<field>_type`; and what a file must not hold: `state_not_serializable`, `secret_in_payload`.
 */
export function encodeSnapshot(snapshot: SessionSnapshot, isSecret: SecretTest): CodecResult<string> {
  return attempt(() => {
    const fields = new FieldReader(snapshot as unknown as Fields, []);
    const whole = readEnvelope(fields, AGENT_STATE_VERSION);
    requirePlain(whole, isSecret);
    return sealSnapshot(JSON.stringify(whole));
  }, 'state_not_serializable');
}

/** Puts the digest in front of the text of an object that has at least one field. */
export function sealSnapshot(content: string): string {
  const rest = content.slice(1);
  return `${DIGEST_LEAD}${hash('sha256', rest, 'hex')}",${rest}`;
}

/**
 * Reads a snapshot, in this order: JSON, versions from the future, versions that are none, the digest, then field by field. A
 * text without envelope is a state file of an earlier layout: it has no position, no run and no digest, and belongs to `key`
 * unless it names another session. Never throws.
 */
export function decodeSnapshot(
  text: string,
  key: SessionKey,
  versions: ReadableVersions = CURRENT_VERSIONS,
): CodecResult<SessionSnapshot> {
  return attempt(() => {
    const root = parse(text);
    const isEnvelope = Object.hasOwn(root, 'envelopeVersion') || Object.hasOwn(root, 'agentState');
    if (!isEnvelope) return readLegacy(root, key, versions);
    requireReadableEnvelope(root, versions);
    requireDigest(text);
    requirePlain(root, NO_SECRETS);
    const fields = new FieldReader(root, []);
    return readEnvelope(fields, layoutOf(fields.reader('agentState')));
  }, 'state_malformed');
}

function parse(text: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    refuseField({ code: 'state_malformed', message: 'The text is not JSON.', path: '' });
  }
  if (isFields(value)) return value;
  return refuseField({ code: 'state_malformed', message: 'The text is not an object.', path: '' });
}

function requireReadableEnvelope(root: Fields, versions: ReadableVersions): void {
  const { agentState, runState } = root;
  requireReadable([
    { path: ['envelopeVersion'], found: root['envelopeVersion'] ?? null, current: versions.envelope },
    {
      path: ['agentState', 'schemaVersion'],
      found: isFields(agentState) ? agentState['schemaVersion'] : undefined,
      current: versions.agentState,
    },
    {
      path: ['runState', 'stateSchemaVersion'],
      found: isFields(runState) ? runState['stateSchemaVersion'] : undefined,
      current: versions.runState,
    },
  ]);
}

/** A flipped bit in a text is valid JSON: only the digest can tell it from what was written. */
function requireDigest(text: string): void {
  const digest = text.slice(DIGEST_LEAD.length, DIGEST_LEAD.length + DIGEST_UNITS);
  const isWhole =
    text.startsWith(DIGEST_LEAD) &&
    text.slice(CONTENT_AT - 2, CONTENT_AT) === '",' &&
    digest === hash('sha256', text.slice(CONTENT_AT), 'hex');
  if (isWhole) return;
  const path = '/contentDigest';
  refuseField({ code: 'content_digest_mismatch', message: 'The content is not what was written.', path });
}

function readEnvelope(fields: FieldReader, version: number): SessionSnapshot {
  const snapshot: SessionSnapshot = {
    envelopeVersion: SNAPSHOT_ENVELOPE_VERSION,
    tenant: fields.text('tenant'),
    sessionId: fields.text('sessionId'),
    position: fields.raw('position') === null ? null : readPosition(fields.reader('position')),
    agentState: readAgentState(fields.reader('agentState'), version),
    runState: fields.raw('runState') === null ? null : readRunState(fields.reader('runState')),
    versionSetId: fields.text('versionSetId'),
  };
  const { sessionId, agentState, runState } = snapshot;
  const isOne = agentState.sessionId === sessionId && (runState?.session.sessionId ?? sessionId) === sessionId;
  if (isOne) return snapshot;
  const message = 'The states of a snapshot are of one session.';
  return refuseField({ code: 'session_identity_mismatch', message, path: '/sessionId' });
}

function readPosition(position: FieldReader): SessionSnapshot['position'] {
  return {
    lastSeq: position.count('lastSeq'),
    lastEventId: position.text('lastEventId'),
    sessionFormatVersion: position.count('sessionFormatVersion'),
  };
}

function readLegacy(root: Fields, { tenant, sessionId }: SessionKey, versions: ReadableVersions): SessionSnapshot {
  const found = root['schemaVersion'];
  requireReadable([{ path: ['schemaVersion'], found, current: versions.agentState }]);
  requirePlain(root, NO_SECRETS);
  const fields = new FieldReader(root, []);
  const agentState = readAgentState(fields, layoutOf(fields), sessionId);
  return {
    envelopeVersion: SNAPSHOT_ENVELOPE_VERSION,
    tenant,
    sessionId: agentState.sessionId,
    position: null,
    agentState,
    runState: null,
    versionSetId: `legacy schema/${versionOf(found)}`,
  };
}
