import type { ErrorCode } from '../../domain/errors/error-codes.js';
import type { InstanceRef } from '../store.js';
import type { Unit } from '../unit.js';
import type { UnitResult } from './unit-writer.js';
import type { CheckpointProgress } from './writer-port.js';

/** What the writer thread is started with: the only place the key-encryption key is handed to. */
export interface WriterThreadData {
  readonly databasePath: string;
  readonly keyEncryptionKey: Uint8Array;
  readonly versionSetId: string;
}

/** To the writer thread; answered in order, one answer each. */
export type WriterRequest =
  | { readonly kind: 'apply'; readonly units: readonly Unit[] }
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'own'; readonly instance: InstanceRef }
  | { readonly kind: 'close' };

export type WriterAnswer =
  | { readonly kind: 'ready'; readonly head: number }
  | { readonly kind: 'unusable'; readonly code: ErrorCode | null; readonly message: string }
  | { readonly kind: 'applied'; readonly results: readonly UnitResult[] }
  | { readonly kind: 'busy' }
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'taken_over' }
  | { readonly kind: 'owned' }
  | { readonly kind: 'checkpointed'; readonly progress: CheckpointProgress }
  | { readonly kind: 'closed' };
