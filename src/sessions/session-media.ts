import { CountersignError } from '../domain/errors/countersign-error.js';
import type { ErrorCode } from '../domain/errors/error-codes.js';
import type { SessionKey } from '../domain/session/session-key.js';
import type { PersistenceBackend } from './backends/persistence-backend.js';
import type { SessionRecord } from './session-record.js';
import type { StateStorage } from './snapshots/state-storage.js';

/** Where the parts of a session are kept: its log, the cache of its state, and what is governed. */
export interface SessionMedia {
  readonly backend: PersistenceBackend;
  readonly snapshots: StateStorage;
  readonly record: SessionRecord;
}

/** One text per key; no two keys have the same. */
export const textOf = ({ tenant, sessionId }: SessionKey): string => JSON.stringify([tenant, sessionId]);

export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: unknown };

/** What came of a read, so that several can be looked at in an order of their own. */
export async function readOf<T>(reading: Promise<T>): Promise<Read<T>> {
  try {
    return { ok: true, value: await reading };
  } catch (error) {
    return { ok: false, error };
  }
}

export function failedWith(read: Read<unknown>, code: ErrorCode): boolean {
  return !read.ok && read.error instanceof CountersignError && read.error.code === code;
}

/** Rejects as the read did, if it failed for this reason. Nothing is wrapped: a newer log is not a damaged one (U-09). */
export function refuseFor(read: Read<unknown>, code: ErrorCode): void {
  if (!read.ok && failedWith(read, code)) throw read.error;
}

/** A flush that failed, as its caller is told it: what waits still waits, and nothing more was made durable. */
export function durabilityFailure(error: unknown): CountersignError {
  // that the log is elsewhere than this process thinks is no conflict of the caller's
  if (error instanceof CountersignError && error.code !== 'seq_conflict') return error;
  return failure('durability_failed', 'the log of the session could not be written', error);
}

/** A read that failed, as its caller is told it. What no medium said is an error of the program and stays one. */
export function readFailure(error: unknown): unknown {
  if (error instanceof CountersignError || !(error instanceof Error) || !('code' in error)) return error;
  return failure('store_unavailable', 'what is stored of the session cannot be read', error);
}

function failure(code: ErrorCode, message: string, cause: unknown): CountersignError {
  const error = new CountersignError(code, message);
  error.cause = cause;
  return error;
}
