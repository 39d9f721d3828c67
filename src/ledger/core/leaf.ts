import type { EventEnvelope } from '../../domain/events/envelope.js';
import { canonicalJson } from '../../domain/json/canonical-json.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import { sha256 } from './sha256.js';

/** U+0000 is the single byte 0x00 in UTF-8: RFC 6962 section 2.1 puts it in front of every leaf, and 0x01 in front of every node. */
const LEAF_PREFIX = '\u0000';

/** Every member a leaf can have. A member of the envelope that is missing here does not compile. */
const LEAF_MEMBERS: Readonly<Record<keyof EventEnvelope | 'payloadCommitment', true>> = {
  actor: true,
  approvalId: true,
  artifactId: true,
  capabilityId: true,
  causationId: true,
  causeKind: true,
  commandId: true,
  correlationId: true,
  credentialLeaseId: true,
  eventId: true,
  eventType: true,
  feedbackId: true,
  occurredAt: true,
  payloadCommitment: true,
  policyDecisionId: true,
  producer: true,
  reasoningObjectId: true,
  recordedAt: true,
  runId: true,
  schemaVersion: true,
  sessionId: true,
  skillId: true,
  stepId: true,
  streamId: true,
  streamKind: true,
  synthetic: true,
  tenant: true,
  toolCallId: true,
  turnId: true,
  unitId: true,
  unitIndex: true,
  unitSize: true,
  version: true,
  versionSetId: true,
};

/** In the order of RFC 8785 section 3.2.3, sorted once instead of for every event. */
const LEAF_ORDER = Object.keys(LEAF_MEMBERS).sort() as readonly (keyof typeof LEAF_MEMBERS)[];

/**
 * The salted commitment to a payload: SHA-256(salt ‖ canonical payload in UTF-8), 32 bytes. Without the salt it says nothing about
 * the payload, so destroying salt and key erases the payload while every proof still verifies.
 */
export function payloadCommitment(salt: Uint8Array, canonicalPayload: Uint8Array): Uint8Array {
  const salted = new Uint8Array(salt.length + canonicalPayload.length);
  salted.set(salt);
  salted.set(canonicalPayload, salt.length);
  return sha256(salted);
}

/** How a commitment is written inside the leaf: `sha256:` and 64 lower-case hexadecimal digits. */
export function commitmentText(commitment: Uint8Array): string {
  if (commitment.length !== 32) throw new Error('a payload commitment has 32 bytes');
  return `sha256:${Buffer.from(commitment.buffer, commitment.byteOffset, commitment.length).toString('hex')}`;
}

/**
 * What a leaf is the hash of: RFC 8785 canonical JSON of the envelope with `payloadCommitment` and without the payload. Throws a plain
 * `Error` when the envelope has a member that an envelope does not have, or one that is not JSON.
 */
export function leafText(envelope: EventEnvelope, commitment: Uint8Array): string {
  let text = '';
  let members = 0;
  for (const name of LEAF_ORDER) {
    const value = name === 'payloadCommitment' ? commitmentText(commitment) : envelope[name];
    if (value === undefined) continue;
    text += `${members === 0 ? '{' : ','}"${name}":${canonicalJson(value as JsonValue)}`;
    members += 1;
  }
  if (members !== Object.keys(envelope).length + 1) throw new Error('an envelope with a member that no envelope has');
  return `${text}}`;
}

/** The leaf hash of one governed event, 32 bytes: SHA-256(0x00 ‖ leaf text in UTF-8), RFC 6962 section 2.1. */
export function leafHash(envelope: EventEnvelope, commitment: Uint8Array): Uint8Array {
  return leafTextHash(leafText(envelope, commitment));
}

/** The same for a leaf text that somebody else wrote. */
export function leafTextHash(text: string): Uint8Array {
  return sha256(LEAF_PREFIX + text);
}

/** Whether a leaf can have a member of this name. */
export function isLeafMember(name: string): boolean {
  return Object.hasOwn(LEAF_MEMBERS, name);
}
