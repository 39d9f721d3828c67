import type { Manifest } from '../../capabilities/manifest.js';
import type { FactName, FactNeeds } from '../core/facts.js';
import { NO_FACTS } from '../core/facts.js';
import type { InputShape, RecordShape } from './input-shape.js';
import { readInputShape } from './input-shape.js';

/** What policies need to know of a capability. */
export type GovernedCapability = Pick<Manifest, 'name' | 'version' | 'risk' | 'effect' | 'inputSchema' | 'personal'>;

/** Cedar's schema in its JSON form, as far as we use it. Attributes are required unless they say otherwise. */
export type CedarType =
  | { readonly type: 'String' | 'Long' | 'Boolean' }
  | { readonly type: 'Set'; readonly element: CedarType }
  | CedarRecord;

export interface CedarRecord {
  readonly type: 'Record';
  readonly attributes: Readonly<Record<string, CedarType & { readonly required: boolean }>>;
}

export interface CedarAction {
  readonly appliesTo: {
    readonly principalTypes: readonly string[];
    readonly resourceTypes: readonly string[];
    readonly context: CedarRecord;
  };
}

export interface CedarSchema {
  readonly '': {
    readonly entityTypes: Readonly<Record<string, { readonly shape: CedarRecord }>>;
    readonly actions: Readonly<Record<string, CedarAction>>;
  };
}

export interface SchemaRead {
  readonly schema: CedarSchema;
  readonly shapes: Readonly<Record<string, RecordShape>>;
  readonly unreadable: readonly { readonly capability: string; readonly pointers: readonly string[] }[];
}

/** The one kind of principal: whoever calls, with the agent that acts for them. The entity id is `sub`. */
export const PRINCIPAL_TYPE = 'Principal';
/** The one kind of resource: the capability itself. The entity id is its name. */
export const RESOURCE_TYPE = 'Capability';

/** Cedar's own type of actions. The entity id is the capability's name. */
export const ACTION_TYPE = 'Action';

const STRING = { type: 'String', required: true } as const;
const LONG = { type: 'Long', required: true } as const;
const BOOLEAN = { type: 'Boolean', required: true } as const;

const ENTITY_TYPES = {
  [PRINCIPAL_TYPE]: {
    shape: record({
      sub: STRING,
      agent: { type: 'String', required: false },
      tenant: STRING,
      roles: { type: 'Set', element: { type: 'String' }, required: true },
    }),
  },
  [RESOURCE_TYPE]: { shape: record({ name: STRING, version: STRING, risk: STRING, effect: STRING }) },
};

/**
 * The schema all policies are validated against: one action per capability name, whose context holds the arguments (`input`),
 * the votes per group (`approvals`), the time and the circumstances of the call. Attributes of entities are few and flat,
 * because each costs time in every evaluation.
 *
 * `capabilities` must not name one capability twice: throws a plain `Error`.
 */
export function schemaFrom(
  capabilities: readonly GovernedCapability[],
  approverGroups: readonly string[],
  needs: ReadonlyMap<string, FactNeeds> = new Map(),
): SchemaRead {
  const actions = new Map<string, CedarAction>();
  const shapes = new Map<string, RecordShape>();
  const unreadable: { capability: string; pointers: readonly string[] }[] = [];
  for (const { name, inputSchema } of capabilities) {
    if (actions.has(name)) throw new Error(`two capabilities are named ${name}`);
    const read = readInputShape(inputSchema);
    actions.set(name, action(read.shape, approverGroups, needs.get(name) ?? NO_FACTS));
    shapes.set(name, read.shape);
    if (read.unreadable.length > 0) unreadable.push({ capability: name, pointers: read.unreadable });
  }
  return {
    schema: { '': { entityTypes: ENTITY_TYPES, actions: Object.fromEntries(actions) } },
    shapes: Object.fromEntries(shapes),
    unreadable,
  };
}

/** The schema of some actions alone: enough to validate requests for them, and cheaper in every use than the whole. */
export function schemaOfActions(schema: CedarSchema, names: readonly string[]): CedarSchema {
  const { entityTypes, actions } = schema[''];
  const own = Object.entries(actions).filter(([name]) => names.includes(name));
  return { '': { entityTypes, actions: Object.fromEntries(own) } };
}

function action(input: RecordShape, approverGroups: readonly string[], needs: FactNeeds): CedarAction {
  const votes = { ...record({ count: LONG, includesRequester: BOOLEAN }), required: true };
  const context = record({
    input: { ...cedarRecord(input), required: true },
    approvals: { ...record(Object.fromEntries(approverGroups.map((group) => [group, votes]))), required: true },
    nowMs: LONG,
    attempt: LONG,
    reasoning: { ...record({ present: BOOLEAN }), required: true },
    allowDuplicateIntent: BOOLEAN,
    breakGlass: BOOLEAN,
    ...Object.fromEntries(needs.facts.map((name) => [name, factType(name, needs)])),
  });
  return { appliesTo: { principalTypes: [PRINCIPAL_TYPE], resourceTypes: [RESOURCE_TYPE], context } };
}

/** Only what is read is part of the context: every attribute costs time in every evaluation. */
function factType(name: FactName, { counters }: FactNeeds): CedarType & { readonly required: true } {
  switch (name) {
    case 'counters':
      return { ...record(Object.fromEntries(counters.map(({ counter }) => [counter, LONG]))), required: true };
    case 'time':
      return { ...record({ hour: LONG, minute: LONG, weekday: LONG, dayOfMonth: LONG, month: LONG }), required: true };
    case 'previousDenials':
      return { ...record({ byPeople: LONG, byPolicy: LONG }), required: true };
    case 'environment':
      return STRING;
    case 'riskScore':
      return LONG;
    case 'agentSuspended':
    case 'compensation':
      return BOOLEAN;
  }
}

function record(attributes: CedarRecord['attributes']): CedarRecord {
  return { type: 'Record', attributes };
}

function cedarRecord(shape: RecordShape): CedarRecord {
  const attributes = Object.entries(shape.members).map(
    ([key, member]) => [key, { ...cedarType(member.shape), required: member.required }] as const,
  );
  return record(Object.fromEntries(attributes));
}

function cedarType(shape: InputShape): CedarType {
  switch (shape.kind) {
    case 'string':
      return { type: 'String' };
    case 'integer':
      return { type: 'Long' };
    case 'boolean':
      return { type: 'Boolean' };
    case 'set':
      return { type: 'Set', element: cedarType(shape.element) };
    case 'record':
      return cedarRecord(shape);
  }
}
