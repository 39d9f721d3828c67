import type { SessionRow } from '../../../domain/session/session-row.js';

/** Bytes of the file that the scan needs next; it is given exactly those. */
export interface ReadRequest {
  readonly at: number;
  readonly length: number;
}

/** Where the file stops being whole, and what could still be read behind that: those rows are part of `rows`. */
export interface TornFile {
  readonly offset: number;
  readonly recovered: readonly SessionRow[];
}
