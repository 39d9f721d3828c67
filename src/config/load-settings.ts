import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDocument } from 'yaml';
import type { z } from 'zod';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { environmentOverrides, type Environment } from './environment.js';
import { settingsSchema, type WrittenSettings } from './settings.schema.js';
import type { Settings } from './settings.js';

type Tree = { [key: string]: unknown };

/** Paths in the settings: relative ones are relative to the file that names them. */
const PATHS = [
  ['dataDir'],
  ['identity', 'jwksFile'],
  ['capabilities', 'dir'],
  ['policy', 'dir'],
  ['storage', 'keyFile'],
  ['storage', 'headFile'],
  ['storage', 'backupDir'],
  ['execution', 'resumeContractFile'],
] as const;

const SECRET_FILE = 'file:';

/** Keys of credentials and callbacks that hold references to secrets. */
const SECRET_KEYS = ['secret', 'previousSecret', 'clientSecret', 'subjectToken', 'actorToken'];

const DEFAULT_FILE = fileURLToPath(new URL('../../config/default.yaml', import.meta.url));

export interface SettingsSource {
  /** The operator's file; null uses the defaults and the environment alone. */
  readonly file: string | null;
  readonly environment: Environment;
}

/**
 * Reads the defaults, the operator's file and the environment into frozen settings.
 *
 * @throws CountersignError `invalid_settings` whose `problems` name every wrong key, the kind of value found and what
 * would be right; values themselves are never repeated.
 */
export function loadSettings(source: SettingsSource): Settings {
  const problems: string[] = [];
  const tree: Tree = {};
  for (const file of source.file === null ? [DEFAULT_FILE] : [DEFAULT_FILE, resolve(source.file)]) {
    merge(tree, absolutePaths(readYaml(file, problems), dirname(file)));
  }
  const overrides = environmentOverrides(source.environment);
  problems.push(...overrides.problems);
  merge(tree, absolutePaths(overrides.tree, process.cwd()));
  const parsed = settingsSchema.safeParse(tree);
  if (!parsed.success) problems.push(...parsed.error.issues.flatMap((issue) => describe(issue, tree)));
  if (problems.length > 0 || !parsed.success) {
    throw new CountersignError('invalid_settings', `settings are not usable:\n  ${problems.join('\n  ')}`, {
      problems,
    });
  }
  return freezeDeep(parsed.data) satisfies WrittenSettings satisfies Settings;
}

function readYaml(file: string, problems: string[]): Tree {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    problems.push(`${file}: cannot be read`);
    return {};
  }
  const document = parseDocument(text, { uniqueKeys: true });
  if (document.errors.length > 0) {
    problems.push(...document.errors.map((error) => `${file}: ${error.code} at line ${error.linePos?.[0].line ?? 1}`));
    return {};
  }
  const value: unknown = document.toJS({ maxAliasCount: 0 });
  if (value === null || value === undefined) return {};
  if (!isTree(value)) {
    problems.push(`${file}: must be a map of settings`);
    return {};
  }
  return value;
}

function absolutePaths(tree: Tree, base: string): Tree {
  for (const path of PATHS) {
    const parent = path.length === 1 ? tree : tree[path[0]];
    const key = path[path.length - 1] as string;
    if (isTree(parent) && typeof parent[key] === 'string') parent[key] = resolve(base, parent[key]);
  }
  const { credentials } = tree;
  for (const credential of isTree(credentials) ? Object.values(credentials) : []) {
    if (isTree(credential)) absoluteSecret(credential, base);
  }
  const { storage } = tree;
  if (isTree(storage) && Array.isArray(storage['previousKeys'])) {
    storage['previousKeys'] = storage['previousKeys'].map((key) => absoluteReference(key, base));
  }
  const { outbox } = tree;
  const sinks = isTree(outbox) ? outbox['sinks'] : null;
  for (const sink of isTree(sinks) ? Object.values(sinks) : []) {
    if (isTree(sink)) absoluteSink(sink, base);
  }
  const callbackSecrets = isTree(tree['callbacks']) ? tree['callbacks']['secrets'] : undefined;
  for (const entry of isTree(callbackSecrets) ? Object.values(callbackSecrets) : []) {
    if (isTree(entry)) absoluteSecret(entry, base);
  }
  return tree;
}

function absoluteSecret(entry: Tree, base: string): void {
  for (const key of SECRET_KEYS) {
    if (Object.hasOwn(entry, key)) entry[key] = absoluteReference(entry[key], base);
  }
}

function absoluteSink(sink: Tree, base: string): void {
  const { path, secrets } = sink;
  if (typeof path === 'string') sink['path'] = resolve(base, path);
  if (sink['kind'] === 'chat') sink['url'] = absoluteReference(sink['url'], base);
  if (Array.isArray(secrets)) sink['secrets'] = secrets.map((secret) => absoluteReference(secret, base));
}

/** What is not a reference to a file stays as it is, for the schema to judge. */
function absoluteReference(secret: unknown, base: string): unknown {
  if (typeof secret !== 'string' || !secret.startsWith(SECRET_FILE) || secret === SECRET_FILE) return secret;
  return `${SECRET_FILE}${resolve(base, secret.slice(SECRET_FILE.length))}`;
}

function merge(into: Tree, from: Tree): void {
  for (const [key, value] of Object.entries(from)) {
    const known = Object.hasOwn(into, key) ? into[key] : undefined;
    if (key === '__proto__') Object.defineProperty(into, key, { value, enumerable: true });
    else if (isTree(known) && isTree(value)) merge(known, value);
    else into[key] = value;
  }
}

function describe(issue: z.core.$ZodIssue, tree: Tree): string[] {
  const at = issue.path.map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `${at === '' ? key : `${at}.${key}`}: unknown setting`);
  }
  const found = kindOf(issue.path.reduce<unknown>(inner, tree));
  if (found === 'nothing') return [`${at}: missing; required: ${expected(issue)}`];
  return [`${at}: found ${found}; required: ${expected(issue)}`];
}

function inner(value: unknown, key: PropertyKey): unknown {
  if (Array.isArray(value)) return value[Number(key)] as unknown;
  return isTree(value) ? value[String(key)] : undefined;
}

function expected(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return issue.expected;
    case 'invalid_value':
      return `one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return `at least ${String(issue.minimum)}`;
    case 'too_big':
      return `at most ${String(issue.maximum)}`;
    case 'invalid_format':
      return issue.message.startsWith('Invalid') ? `text in the form ${issue.format}` : issue.message;
    case 'not_multiple_of':
    case 'unrecognized_keys':
    case 'invalid_union':
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
      return issue.message;
  }
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'number' ? 'a number' : typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

function isTree(value: unknown): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function freezeDeep<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) freezeDeep(inner);
  }
  return value;
}
