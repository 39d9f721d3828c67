import { isJsonObject } from '../../domain/json/json-value.js';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';

/** What we read of a policy in Cedar's own JSON form (its "EST"), as `policyToJson` gives it. */
export interface PolicyReading {
  readonly effect: 'permit' | 'forbid';
  readonly annotations: readonly (readonly [name: string, text: string | null])[];
  /** The actions the scope names; null when it names none, so the policy is global. */
  readonly actions: readonly string[] | null;
  /** The entity that the resource scope demands; null when it demands none. */
  readonly resource: EntityLiteral | null;
  /** Paths below `context` that the conditions read: `['input', 'orderId']`. */
  readonly contextPaths: readonly (readonly string[])[];
  /** Every entity the policy names, scope and conditions alike. */
  readonly entities: readonly EntityLiteral[];
  /** The numbers of votes at which a comparison of `context.approvals[group].count` with a literal turns. */
  readonly voteThresholds: readonly VoteThreshold[];
}

export interface VoteThreshold {
  readonly group: string;
  readonly votes: number;
}

export interface EntityLiteral {
  readonly type: string;
  readonly id: string;
}

/** Throws a plain `Error` on JSON that is not a policy: the engine's own translation gives nothing else. */
export function readPolicyJson(policy: JsonObject): PolicyReading {
  const { effect, action, resource, principal, conditions, annotations } = policy;
  if (effect !== 'permit' && effect !== 'forbid') throw new Error('not a policy: its effect is missing');
  const found: Found = { paths: [], entities: [], thresholds: [] };
  for (const scope of [principal, action, resource]) collectEntities(scope, found);
  for (const condition of isList(conditions) ? conditions : []) {
    if (isJsonObject(condition)) walk(condition['body'], found);
  }
  return {
    effect,
    annotations: isJsonObject(annotations)
      ? Object.entries(annotations).map(([name, text]) => [name, typeof text === 'string' ? text : null] as const)
      : [],
    actions: scopeActions(action),
    resource: isJsonObject(resource) && resource['op'] === '==' ? entityFrom(resource['entity']) : null,
    contextPaths: found.paths,
    entities: found.entities,
    voteThresholds: found.thresholds,
  };
}

interface Found {
  readonly thresholds: VoteThreshold[];
  readonly paths: (readonly string[])[];
  readonly entities: EntityLiteral[];
}

function scopeActions(action: JsonValue | undefined): string[] | null {
  if (!isJsonObject(action) || action['op'] === 'All') return null;
  const named = isList(action['entities']) ? action['entities'] : [action['entity']];
  return named.map((entity) => {
    const literal = entityFrom(entity);
    if (literal === null) throw new Error('not a policy: its action is not an entity');
    return literal.id;
  });
}

/**
 * An expression is an object with one key that says its kind, its operands stand in an object or a list below it. Only reads of
 * the context and literals matter here.
 */
function walk(expression: JsonValue | undefined, found: Found): void {
  if (isList(expression)) {
    for (const part of expression) walk(part, found);
    return;
  }
  if (!isJsonObject(expression)) return;
  const paths = pathsOf(expression);
  if (paths !== null) {
    found.paths.push(...paths);
    return;
  }
  if (Object.hasOwn(expression, 'Value')) {
    collectEntities(expression['Value'], found);
    return;
  }
  collectThresholds(expression, found);
  // The keys of a record literal are the author's words, never kinds of expressions; its values are walked.
  const inner = isJsonObject(expression['Record']) ? expression['Record'] : expression;
  for (const part of Object.values(inner)) walk(part, found);
}

/** The paths a chain of accesses (or a question for presence) on `context` reads, or null when the expression is something else. */
function pathsOf(expression: JsonObject): (readonly string[])[] | null {
  if (expression['Var'] === 'context') return [[]];
  const access = expression['.'] ?? expression['has'];
  if (!isJsonObject(access) || !isJsonObject(access['left'])) return null;
  const base = pathsOf(access['left']);
  const attributes = isList(access['attr']) ? access['attr'] : [access['attr']];
  const words = attributes.filter((attribute) => typeof attribute === 'string');
  return base === null ? null : base.map((path) => [...path, ...words]);
}

/** For each comparison with the count on the left: the first number of votes on its other side. */
const TURNS_AT: Readonly<Record<string, (literal: number) => number>> = {
  '>=': (literal) => literal,
  '<': (literal) => literal,
  '==': (literal) => literal,
  '!=': (literal) => literal,
  '>': (literal) => literal + 1,
  '<=': (literal) => literal + 1,
};
const MIRRORED: Readonly<Record<string, string>> = {
  '>=': '<=',
  '<=': '>=',
  '<': '>',
  '>': '<',
  '==': '==',
  '!=': '!=',
};

function collectThresholds(expression: JsonObject, found: Found): void {
  for (const [operator, mirrored] of Object.entries(MIRRORED)) {
    const operands = expression[operator];
    if (!isJsonObject(operands)) continue;
    const { left, right } = operands;
    addThreshold(left, right, operator, found);
    addThreshold(right, left, mirrored, found);
  }
}

function addThreshold(
  count: JsonValue | undefined,
  literal: JsonValue | undefined,
  operator: string,
  found: Found,
): void {
  const path = isJsonObject(count) ? pathsOf(count)?.[0] : undefined;
  const number = isJsonObject(literal) ? literal['Value'] : undefined;
  const [root, group, field] = path ?? [];
  const turn = TURNS_AT[operator];
  if (
    root !== 'approvals' ||
    group === undefined ||
    field !== 'count' ||
    typeof number !== 'number' ||
    turn === undefined
  )
    return;
  found.thresholds.push({ group, votes: turn(number) });
}

function collectEntities(value: JsonValue | undefined, found: Found): void {
  const literal = entityFrom(value);
  if (literal !== null) {
    found.entities.push(literal);
    return;
  }
  if (isList(value)) for (const item of value) collectEntities(item, found);
  else if (isJsonObject(value)) for (const item of Object.values(value)) collectEntities(item, found);
}

function entityFrom(value: JsonValue | undefined): EntityLiteral | null {
  if (!isJsonObject(value)) return null;
  const { type, id } = isJsonObject(value['__entity']) ? value['__entity'] : value;
  return typeof type === 'string' && typeof id === 'string' ? { type, id } : null;
}

function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}
