import { readFileSync } from 'node:fs';
import { environmentValue } from '../config/environment.js';

/** The text behind `env:NAME` or `file:PATH`, without white space around it; null when there is none. */
export function resolveSecret(reference: string): string | null {
  if (reference.startsWith('env:')) return environmentValue(reference.slice('env:'.length)) ?? null;
  try {
    const text = readFileSync(reference.slice('file:'.length), 'utf8').trim();
    return text === '' ? null : text;
  } catch {
    return null;
  }
}
