/** The only reader of the process environment. */
export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'COUNTERSIGN_';

/** Variables with the prefix that are not settings. */
const NOT_SETTINGS = new Set(['COUNTERSIGN_CONFIG']);

export const processEnvironment = (): Environment => process.env;

/** The value of one variable for a secret reference `env:NAME`; undefined when it is not set or empty. */
export function environmentValue(name: string): string | undefined {
  const value = process.env[name];
  return value === '' ? undefined : value;
}

/** Path of the operator's settings file, from `COUNTERSIGN_CONFIG`. */
export function settingsFile(environment: Environment): string | null {
  return environment['COUNTERSIGN_CONFIG'] ?? null;
}

/**
 * `COUNTERSIGN_HTTP__PORT=8080` as `{http: {port: 8080}}`. Upper case words become camel case
 * (`BODY_BYTES_MAX` is `bodyBytesMax`); a value that is JSON is read as JSON, anything else is text.
 */
export function environmentOverrides(environment: Environment): {
  readonly tree: { [key: string]: unknown };
  readonly problems: readonly string[];
} {
  const tree: { [key: string]: unknown } = {};
  const problems: string[] = [];
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(PREFIX) || NOT_SETTINGS.has(name) || value === undefined) continue;
    const path = name.slice(PREFIX.length).split('__').map(camelCase);
    if (path.some((part) => part === '')) {
      problems.push(`${name}: not the name of a setting`);
      continue;
    }
    place(tree, path, readValue(value));
  }
  return { tree, problems };
}

function place(tree: { [key: string]: unknown }, path: readonly string[], value: unknown): void {
  let at = tree;
  for (const part of path.slice(0, -1)) {
    const next = at[part];
    at = (typeof next === 'object' && next !== null ? next : (at[part] = {})) as { [key: string]: unknown };
  }
  at[path[path.length - 1] as string] = value;
}

function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function camelCase(words: string): string {
  return words.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
