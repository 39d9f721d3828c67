import { pointerFrom } from '../../json/json-pointer.js';
import { refuseField } from './codec-result.js';
import type { FieldPath } from './field-reader.js';

/** Deeper data is refused when it is written and when it is read. */
export const STATE_DEPTH_MAX = 200;

/** True for what must be in no artefact: a credential that this process knows. */
export type SecretTest = (text: string) => boolean;

export const NO_SECRETS: SecretTest = () => false;

/**
 * Refuses what JSON cannot hold and what must not be kept: functions, handles, instances of classes, symbols, big integers,
 * numbers that are not finite, cycles, depth, and texts or names that are secrets. `undefined` in an object is absence.
 */
export function requirePlain(value: unknown, isSecret: SecretTest): void {
  visit(value, { isSecret, path: [], above: new Set() });
}

interface Visit {
  readonly isSecret: SecretTest;
  /** Grows and shrinks with the walk. */
  readonly path: (string | number)[];
  readonly above: Set<object>;
}

function visit(value: unknown, walk: Visit): void {
  switch (typeof value) {
    case 'string':
      if (walk.isSecret(value)) refuse('secret_in_payload', 'is a registered secret', walk.path);
      return;
    case 'boolean':
      return;
    case 'number':
      if (!Number.isFinite(value)) refuse('state_not_serializable', 'is not a finite number', walk.path);
      return;
    case 'object':
      if (value !== null) visitObject(value, walk);
      return;
    case 'undefined':
    case 'function':
    case 'symbol':
    case 'bigint':
      refuse('state_not_serializable', `is a ${typeof value}`, walk.path);
  }
}

function visitObject(value: object, walk: Visit): void {
  const { above, path } = walk;
  if (above.has(value)) refuse('state_not_serializable', 'contains itself', path);
  if (path.length > STATE_DEPTH_MAX) refuse('state_not_serializable', 'is nested too deeply', path);
  above.add(value);
  if (Array.isArray(value)) visitItems(value as readonly unknown[], walk);
  else visitFields(value, walk);
  above.delete(value);
}

function visitItems(items: readonly unknown[], walk: Visit): void {
  for (let index = 0; index < items.length; index += 1) {
    walk.path.push(index);
    visit(items[index], walk);
    walk.path.pop();
  }
}

function visitFields(object: object, walk: Visit): void {
  if (!isPlain(object)) refuse('state_not_serializable', 'is an instance of a class', walk.path);
  if (Object.getOwnPropertySymbols(object).length > 0) refuse('state_not_serializable', 'has a symbol', walk.path);
  for (const [name, inner] of Object.entries(object)) {
    if (inner === undefined) continue;
    if (walk.isSecret(name)) refuse('secret_in_payload', 'has a name that is a registered secret', walk.path);
    walk.path.push(name);
    visit(inner, walk);
    walk.path.pop();
  }
}

/** Also for objects of another realm. An instance has a prototype that has one itself. */
function isPlain(object: object): boolean {
  const prototype = Object.getPrototypeOf(object) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function refuse(code: string, what: string, path: FieldPath): never {
  const pointer = pointerFrom(path.slice(0, STATE_DEPTH_MAX));
  return refuseField({ code, message: `${pointer === '' ? 'The state' : pointer} ${what}.`, path: pointer });
}
