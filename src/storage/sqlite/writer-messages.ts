import type { ErrorCode } from '../../domain/errors/error-codes.js';
import type { RewrapProgress } from '../custody.js';
import type { InstanceRef } from '../store.js';
import type { KeyEncryptionKeys } from '../key-encryption-keys.js';
import type { StoreHead } from '../store-head.js';
import type { Unit } from '../unit.js';
import type { UnitResult } from './unit-writer.js';
import type { CheckpointProgress } from './writer-port.js';

/** What the writer thread is started with: the only place the key-encryption keys are handed to. */
export interface WriterThreadData {
  readonly databasePath: string;
  readonly keys: KeyEncryptionKeys;
  readonly versionSetId: string;
  /** Heads that may be earlier ones of this store, the one to believe first in front. */
  readonly knownHeads: readonly StoreHead[];
}

/** Makes a copy of the database beside the requests: commits go on. Answered by one `CopyAnswer`, whenever it is done. */
export interface CopyRequest {
  readonly kind: 'copy';
  readonly path: string;
}

export type CopyAnswer = { readonly kind: 'copied' } | { readonly kind: 'copy_failed'; readonly message: string };

/** To the writer thread; answered in order, one answer each. */
export type WriterRequest =
  | { readonly kind: 'apply'; readonly units: readonly Unit[] }
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'own'; readonly instance: InstanceRef }
  /** Whether a disk that was full has space again. */
  | { readonly kind: 'recover' }
  /** Where the store stands; counts leaves for at most so long. */
  | { readonly kind: 'head'; readonly budgetMs: number }
  /** Wraps keys again, at most so many looked at. */
  | { readonly kind: 'rewrap'; readonly after: string; readonly limit: number }
  | { readonly kind: 'release_keys' }
  | { readonly kind: 'close' };

export type WriterAnswer =
  | {
      readonly kind: 'ready';
      readonly head: number;
      /** Hash of the leaf at the last position of each known head. */
      readonly leavesAtKnown: readonly (string | null)[];
    }
  | { readonly kind: 'unusable'; readonly code: ErrorCode | null; readonly message: string }
  | { readonly kind: 'applied'; readonly results: readonly UnitResult[] }
  | { readonly kind: 'busy' }
  | { readonly kind: 'broken'; readonly message: string; readonly mayRecover: boolean }
  | { readonly kind: 'recovered'; readonly head: number }
  | { readonly kind: 'taken_over' }
  | { readonly kind: 'owned' }
  | { readonly kind: 'checkpointed'; readonly progress: CheckpointProgress }
  | { readonly kind: 'head'; readonly head: StoreHead }
  | { readonly kind: 'rewrapped'; readonly progress: RewrapProgress }
  | { readonly kind: 'keys_released' }
  | { readonly kind: 'rewrap_failed'; readonly message: string }
  | { readonly kind: 'closed' };
