import { Injectable } from '@nestjs/common';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import { effectiveArguments } from '../../capabilities/argument-schema.js';
import type { Capability } from '../../capabilities/manifest.js';
import { renderCallerKey, renderTarget } from '../../capabilities/request-rendering.js';
import { redactedPointers } from '../../capabilities/redaction.js';
import { Settings } from '../../config/settings.js';
import { sha256Digest, intentDigest, keyHash } from '../../domain/digests/digests.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { checkIdempotencyKey } from '../../domain/ids/caller-names.js';
import { canonicalJson } from '../../domain/json/canonical-json.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { principalKey, principalOf, type Principal } from '../../domain/principal.js';
import type { Caller } from '../../identity/caller.js';
import type { Proposal } from './propose-tool-call.command.js';

/** A proposal that makes sense: one capability in force, effective arguments, their digests, a key. */
export interface Intent {
  readonly capability: Capability;
  readonly principal: Principal;
  readonly principalKey: string;
  /** Defaults filled in: what is shown, digested and sent. */
  readonly args: JsonObject;
  readonly argsDigest: string;
  readonly intentDigest: string;
  readonly target: JsonObject;
  readonly redacted: readonly string[];
  /** The caller's key, or the one the manifest derives; null only for reads without one. */
  readonly key: string | null;
  readonly keyHash: string | null;
}

@Injectable()
export class IntentReader {
  constructor(
    private readonly registry: CapabilityRegistry,
    private readonly settings: Settings,
  ) {}

  /**
   * Reads a proposal against the capability it names. Nothing is recorded when it is refused, so a refused key stays
   * free.
   *
   * @throws CountersignError `capability_unknown`, `capability_version_unknown`, `invalid_arguments`,
   * `payload_too_large`, `idempotency_key_required`, `invalid_idempotency_key`, `invalid_request`
   */
  read(caller: Caller, proposal: Proposal): Intent {
    return readIntent(caller, proposal, this.registry, this.settings);
  }
}

function readIntent(caller: Caller, proposal: Proposal, registry: CapabilityRegistry, settings: Settings): Intent {
  const resolved = registry.resolve(proposal.capability);
  if (typeof resolved === 'string')
    throw new CountersignError(resolved, 'no such capability is in force', { pointer: '/capability' });
  if (proposal.reason !== null && Buffer.byteLength(proposal.reason) > settings.limits.reasonBytesMax) {
    throw new CountersignError('invalid_request', 'the reason is too long', { pointer: '/reason' });
  }
  const effective = effectiveArguments(resolved, proposal.arguments);
  if (!effective.ok) {
    throw new CountersignError('invalid_arguments', 'the arguments do not fit the input schema', {
      pointer: `/arguments${effective.problems[0]?.pointer ?? ''}`,
      problems: effective.problems.map(({ pointer, message }) => `/arguments${pointer}: ${message}`),
    });
  }
  const args = effective.arguments;
  const text = canonicalJson(args);
  if (Buffer.byteLength(text) > settings.limits.argumentsBytesMax) {
    throw new CountersignError('payload_too_large', 'the arguments are too large', { pointer: '/arguments' });
  }
  const principal = principalOf(caller.actor);
  // `argsDigest` of the arguments, whose text is at hand.
  const digest = sha256Digest(text);
  const { name } = resolved.manifest;
  const key = readKey(resolved, args, proposal);
  return {
    capability: resolved,
    principal,
    principalKey: principalKey(principal),
    args,
    argsDigest: digest,
    intentDigest: intentDigest({ tenant: caller.tenant, principal, capability: name, argsDigest: digest }),
    target: renderTarget(resolved, args),
    redacted: redactedPointers(resolved.manifest, args),
    key,
    keyHash: key === null ? null : keyHash(caller.tenant, key),
  };
}

function readKey(capability: Capability, args: JsonObject, proposal: Proposal): string | null {
  const { effect, idempotency } = capability.manifest;
  const derived =
    idempotency.callerKeyTemplate === null
      ? null
      : renderCallerKey(idempotency.callerKeyTemplate, args, proposal.intentId);
  const key = proposal.idempotencyKey ?? derived;
  if (key === null) {
    if (effect === 'read_only') return null;
    throw new CountersignError('idempotency_key_required', `${capability.manifest.name} has an effect and needs a key`);
  }
  const problem = checkIdempotencyKey(key);
  if (problem !== null) throw new CountersignError('invalid_idempotency_key', 'the idempotency key is not usable');
  return key;
}
