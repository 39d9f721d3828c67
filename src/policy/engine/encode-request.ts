import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import { isJsonObject } from '../../domain/json/json-value.js';
import { NO_FACTS, type FactNeeds } from '../core/facts.js';
import type { ApprovalFacts } from '../core/obligations.js';
import type { PolicyRequest } from '../core/policy-types.js';
import { encodeFacts } from './encode-facts.js';
import { integer, RequestUnreadable, text, truth, type EncodedValue } from './encode-values.js';
import type { InputShape, RecordShape } from './input-shape.js';
import { ACTION_TYPE, PRINCIPAL_TYPE, RESOURCE_TYPE } from './schema.js';

export interface EntityId {
  readonly type: string;
  readonly id: string;
}

export interface EncodedEntity {
  readonly uid: EntityId;
  readonly attrs: Record<string, EncodedValue>;
  readonly parents: never[];
}

/** A request in the engine's words, all but the votes, which change from round to round. */
export interface EncodedRequest {
  readonly principal: EntityId;
  readonly action: EntityId;
  readonly resource: EntityId;
  readonly entities: readonly EncodedEntity[];
  readonly context: Record<string, EncodedValue>;
}

/** @throws RequestUnreadable */
export function encodeRequest(request: PolicyRequest, shape: RecordShape, needs: FactNeeds = NO_FACTS): EncodedRequest {
  const principal = { type: PRINCIPAL_TYPE, id: text(request.sub) };
  const resource = { type: RESOURCE_TYPE, id: text(request.capability) };
  return {
    principal,
    action: { type: ACTION_TYPE, id: resource.id },
    resource,
    entities: [
      { uid: principal, attrs: principalAttributes(request), parents: [] },
      {
        uid: resource,
        attrs: {
          name: resource.id,
          version: text(request.capabilityVersion),
          risk: text(request.risk),
          effect: text(request.effect),
        },
        parents: [],
      },
    ],
    context: {
      input: encodeRecord(request.input, shape),
      nowMs: integer(request.nowMs),
      attempt: integer(request.attempt),
      reasoning: { present: truth(request.reasoningPresent) },
      allowDuplicateIntent: truth(request.allowDuplicateIntent),
      breakGlass: truth(request.breakGlass ?? false),
      ...(needs.facts.length === 0 ? undefined : encodeFacts(request, needs)),
    },
  };
}

/**
 * Votes of every configured group, none where nothing is said. Votes of groups that are not configured (any more) are left out: no
 * policy can name them.
 *
 * @throws RequestUnreadable
 */
export function encodeApprovals(facts: ApprovalFacts, approverGroups: readonly string[]): EncodedValue {
  const groups = approverGroups.map((group) => {
    const votes = Object.hasOwn(facts, group) ? facts[group] : undefined;
    const { count, includesRequester } = votes ?? { count: 0, includesRequester: false };
    return [group, { count: integer(count), includesRequester: truth(includesRequester) }] as const;
  });
  return Object.fromEntries(groups);
}

function principalAttributes(request: PolicyRequest): Record<string, EncodedValue> {
  const attributes = { sub: text(request.sub), tenant: text(request.tenant), roles: request.roles.map(text) };
  return request.act === undefined ? attributes : { ...attributes, agent: text(request.act) };
}

/** Exactly the declared members; what else the arguments hold is not seen by policies. */
function encodeRecord(value: JsonObject, shape: RecordShape): { [key: string]: EncodedValue } {
  const encoded: [string, EncodedValue][] = [];
  for (const [key, member] of Object.entries(shape.members)) {
    if (key.startsWith('__')) throw new RequestUnreadable('a key that begins with __ cannot be read by policies');
    if (Object.hasOwn(value, key)) encoded.push([key, encode(value[key], member.shape)]);
    else if (member.required) throw new RequestUnreadable('a required argument is missing');
  }
  return Object.fromEntries(encoded);
}

function encode(value: JsonValue | undefined, shape: InputShape): EncodedValue {
  switch (shape.kind) {
    case 'string':
      return text(value);
    case 'integer':
      return integer(value);
    case 'boolean':
      return truth(value);
    case 'set':
      if (!Array.isArray(value)) throw new RequestUnreadable('an argument is not an array');
      return Array.from(value as readonly JsonValue[], (item) => encode(item, shape.element));
    case 'record':
      if (!isJsonObject(value)) throw new RequestUnreadable('an argument is not an object');
      return encodeRecord(value, shape);
  }
}

/**
 * True when an entity the request names is not among the entities sent with it. The engine would take every scope and attribute
 * of such an entity as not matching, restrictive policies included.
 */
export function lacksEntity({ principal, resource, entities }: EncodedRequest): boolean {
  return [principal, resource].some(({ type, id }) => !entities.some(({ uid }) => uid.type === type && uid.id === id));
}
