import { readFileSync } from 'node:fs';
import { environmentValue } from '../config/environment.js';
import type { StoredSecrets } from './stored-secrets.js';

const ENVIRONMENT = 'env:';
const FILE = 'file:';
const STORED = 'secret:';

/** The text behind `env:NAME` or `file:PATH`, without white space around it; null when there is none. */
export function resolveSecret(reference: string): string | null {
  if (reference.startsWith(ENVIRONMENT)) return environmentValue(reference.slice(ENVIRONMENT.length)) ?? null;
  if (!reference.startsWith(FILE)) return null;
  try {
    const text = readFileSync(reference.slice(FILE.length), 'utf8').trim();
    return text === '' ? null : text;
  } catch {
    return null;
  }
}

/** Name and version that a reference to the store of secrets means; null for a reference of another kind. */
export function storedReference(reference: string): { readonly name: string; readonly version: number | null } | null {
  if (!reference.startsWith(STORED)) return null;
  const [name = '', version] = reference.slice(STORED.length).split('@');
  return { name, version: version === undefined ? null : Number(version) };
}

/** Answers references of every kind; those to the store of secrets anew after each change of it. */
export class SecretSource {
  constructor(private readonly stored: StoredSecrets | null = null) {}

  /** The text; null when there is none. */
  readonly resolve = (reference: string): string | null => {
    const named = storedReference(reference);
    if (named === null) return resolveSecret(reference);
    return this.stored?.find(named.name, named.version)?.reveal() ?? null;
  };

  onChange(listener: () => void): void {
    this.stored?.onChange(listener);
  }
}
