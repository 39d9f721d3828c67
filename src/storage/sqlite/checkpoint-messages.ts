import type { CheckpointProgress } from './writer-port.js';

export type CheckpointRequest = { readonly kind: 'pass' } | { readonly kind: 'close' };

export type CheckpointAnswer =
  | { readonly kind: 'passed'; readonly progress: CheckpointProgress }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'closed' };
