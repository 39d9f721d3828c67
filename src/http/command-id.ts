import { CountersignError } from '../domain/errors/countersign-error.js';
import { checkIdempotencyKey } from '../domain/ids/caller-names.js';

/**
 * The client's name for its command: `commandId` of the body or else the `Idempotency-Key` header; null when it sent none.
 *
 * @throws CountersignError `invalid_idempotency_key`
 */
export function commandIdOf(
  body: { readonly commandId?: string | undefined },
  headers: { readonly 'idempotency-key': string | undefined },
): string | null {
  const named = body.commandId ?? headers['idempotency-key'];
  if (named === undefined) return null;
  if (checkIdempotencyKey(named) !== null) {
    throw new CountersignError('invalid_idempotency_key', 'the Idempotency-Key header cannot name a command');
  }
  return named;
}
