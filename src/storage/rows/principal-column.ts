import type { Principal } from '../../domain/principal.js';

/** The principal that `principalKey` wrote. Throws a plain `Error` on any other text. */
export function principalFromKey(key: string): Principal {
  const parts = JSON.parse(key) as unknown;
  if (Array.isArray(parts) && parts.every((part) => typeof part === 'string')) {
    const [sub, act] = parts as readonly string[];
    if (parts.length === 1 && sub !== undefined) return { sub };
    if (parts.length === 2 && sub !== undefined && act !== undefined) return { sub, act };
  }
  throw new Error('a principal column does not hold a principal');
}
