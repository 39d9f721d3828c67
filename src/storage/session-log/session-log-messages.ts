import type { SessionKey } from '../../domain/session/session-key.js';
import type { ErrorCode } from '../../domain/errors/error-codes.js';
import type { LogAppend, LogRepair } from './session-database.js';

export interface SessionLogThreadData {
  readonly path: string;
  /** Of this process; every later process of the data directory has a higher one. */
  readonly instanceEpoch: number;
}

/** One write; what it changes is changed as a whole or not at all. */
export type SessionWrite =
  | { readonly kind: 'append'; readonly key: SessionKey; readonly batch: LogAppend }
  | { readonly kind: 'repair'; readonly key: SessionKey; readonly repair: LogRepair }
  | { readonly kind: 'delete'; readonly key: SessionKey }
  | {
      readonly kind: 'save_snapshot';
      readonly key: SessionKey;
      readonly content: string;
      readonly savedAt: string;
    }
  | { readonly kind: 'mark_snapshot'; readonly key: SessionKey; readonly at: string }
  | { readonly kind: 'delete_snapshot'; readonly key: SessionKey };

export type SessionWriteResult =
  | { readonly outcome: 'written'; readonly revision: string }
  | { readonly outcome: 'refused'; readonly code: ErrorCode; readonly message: string };

/** To the writer thread; answered in order, one answer each. */
export type SessionLogRequest =
  { readonly kind: 'write'; readonly writes: readonly SessionWrite[] } | { readonly kind: 'close' };

export type SessionLogAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'unusable'; readonly code: ErrorCode | null; readonly message: string }
  | { readonly kind: 'written'; readonly results: readonly SessionWriteResult[] }
  /** Nothing of the writes is known to be durable. */
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'closed' };
