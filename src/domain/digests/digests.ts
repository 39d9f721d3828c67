import { hash } from 'node:crypto';
import { canonicalJson } from '../json/canonical-json.js';
import type { JsonObject, JsonValue } from '../json/json-value.js';
import type { Principal } from '../principal.js';
import type { Risk } from '../tool-call/tool-call.state.js';

/** `sha256:` and 64 lower-case hexadecimal digits: how every digest is printed, stored and compared. */
export type Digest = `sha256:${string}`;

/** SHA-256 (FIPS 180-4) in 64 lower-case hexadecimal digits; a text is hashed as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}

export function sha256Digest(content: string | Uint8Array): Digest {
  return `sha256:${sha256Hex(content)}`;
}

/** Digest of the canonical text (RFC 8785) of a value. Throws a plain `Error` on what is not JSON. */
export function jsonDigest(value: JsonValue): Digest {
  return sha256Digest(canonicalJson(value));
}

/** Decision 27: over the effective arguments, that is after validation and defaults. */
export function argsDigest(effectiveArguments: JsonValue): Digest {
  return jsonDigest(effectiveArguments);
}

/** What makes two proposals the same intent. The capability is its name: a new version is no new intent. */
export interface Intent {
  readonly tenant: string;
  readonly principal: Principal;
  readonly capability: string;
  readonly argsDigest: string;
}

export function intentDigest({ tenant, principal, capability, argsDigest }: Intent): Digest {
  return jsonDigest({ tenant, principal: plain(principal), capability, argsDigest });
}

/** Everything a person consents to (decision 27): another value of any of them is another consent. */
export interface Consent {
  readonly toolCallId: string;
  readonly attempt: number;
  readonly tenant: string;
  readonly principal: Principal;
  /** `name@version`. */
  readonly capability: string;
  readonly manifestDigest: string;
  readonly argsDigest: string;
  /** Connector, method and URL or tool, as rendered. */
  readonly target: JsonObject;
  readonly risk: Risk;
  readonly policyRevision: string;
  readonly decideBy: string;
  /** The latest time the question allows (`executeByLatest`): when people are asked nobody knows the time of the grant. */
  readonly executeBy: string;
}

/** Shown to the approver, sent back with the decision, checked at dispatch. */
export function consentDigest(consent: Consent): Digest {
  return jsonDigest({
    toolCallId: consent.toolCallId,
    attempt: consent.attempt,
    tenant: consent.tenant,
    principal: plain(consent.principal),
    capability: consent.capability,
    manifestDigest: consent.manifestDigest,
    argsDigest: consent.argsDigest,
    target: consent.target,
    risk: consent.risk,
    policyRevision: consent.policyRevision,
    decideBy: consent.decideBy,
    executeBy: consent.executeBy,
  });
}

/** A tool that takes shorter keys can not be told one call from another with certainty: 96 bits are the least. */
export const DOWNSTREAM_KEY_LENGTH_MIN = 27;
export const DOWNSTREAM_KEY_LENGTH = 43;

/**
 * The idempotency key a tool receives: `cs_` and the first 40 hexadecimal digits of
 * SHA-256("countersign/downstream/" + toolCallId), cut to `maxLength` characters where the tool takes fewer. It depends
 * on nothing else, so every attempt sends the same bytes. Throws a plain `Error` below `DOWNSTREAM_KEY_LENGTH_MIN`.
 */
export function downstreamKeyFor(toolCallId: string, maxLength: number = DOWNSTREAM_KEY_LENGTH): string {
  if (maxLength < DOWNSTREAM_KEY_LENGTH_MIN) {
    throw new Error(`a downstream key needs at least ${DOWNSTREAM_KEY_LENGTH_MIN} characters`);
  }
  const length = Math.min(maxLength, DOWNSTREAM_KEY_LENGTH);
  return `cs_${sha256Hex(`countersign/downstream/${toolCallId}`)}`.slice(0, length);
}

/** What is kept of a caller's idempotency key: equal keys of two tenants have nothing in common. */
export function keyHash(tenant: string, key: string): Digest {
  return jsonDigest(['countersign/idempotency-key', tenant, key]);
}

/** Exactly `{sub, act?}`, whatever else the object at hand carries. */
function plain({ sub, act }: Principal): JsonObject {
  return act === undefined ? { sub } : { sub, act };
}
