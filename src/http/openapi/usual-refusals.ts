import type { ErrorCode } from '../../domain/errors/error-codes.js';
import { isForEverybody } from '../../identity/bearer.guard.js';
import type { Operation } from './operation.js';
import type { Route } from './routes.js';

/** What any operation that records something can meet: nothing was recorded. */
export const RECORDING: readonly ErrorCode[] = ['overloaded', 'contended', 'store_unavailable', 'durability_failed'];

/** What a route can be refused with because of what it is, before its handler has said anything. */
export function usualRefusals({ access, path }: Route, { body, query, headers }: Operation): readonly ErrorCode[] {
  return [
    'internal',
    'shutting_down',
    ...(path.includes('{') ? (['not_found'] as const) : []),
    ...(access === 'public' ? [] : (['unauthenticated', 'identity_provider_unavailable'] as const)),
    ...(access === 'public' || isForEverybody(access) ? [] : (['not_authorized'] as const)),
    ...(body === undefined && query === undefined && headers === undefined ? [] : (['invalid_request'] as const)),
    ...(body === undefined ? [] : (['invalid_json', 'payload_too_large', 'unsupported_media_type'] as const)),
  ];
}
