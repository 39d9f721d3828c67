import type { PayloadShape } from './payload-shape.js';

/** Where an event lives. Streams are per aggregate; their versions are contiguous from 1. */
export const STREAM_KINDS = [
  'run',
  'call',
  'approval',
  'outcome',
  'command',
  'capability',
  'policy',
  'ledger',
  'evidence',
  'session',
  'checkpoint',
  'lease',
  'grant',
  'delegation',
  'plan_review',
] as const;
export type StreamKind = (typeof STREAM_KINDS)[number];

/** The part of the system that may state the fact. */
export type Producer =
  | 'capability-runtime'
  | 'policy-runtime'
  | 'control-plane'
  | 'reconciler'
  | 'recovery'
  | 'session-runtime'
  | 'harness'
  | 'feedback-intake'
  | 'lease-authority';

export interface EventDefinition {
  readonly stream: StreamKind;
  readonly schemaVersion: number;
  readonly producers: readonly Producer[];
  readonly shape: PayloadShape;
}

/** One registered type. `stream` keeps its literal type, so the events of one stream are a union of their own. */
export const define = <const K extends StreamKind, const S extends PayloadShape>(
  stream: K,
  schemaVersion: number,
  producers: readonly Producer[],
  shape: S,
): {
  readonly stream: K;
  readonly schemaVersion: number;
  readonly producers: readonly Producer[];
  readonly shape: S;
} => ({
  stream,
  schemaVersion,
  producers,
  shape,
});
