import { Command } from '@nestjs/cqrs';
import type { JsonValue } from '../../domain/json/json-value.js';
import type { Caller } from '../../identity/caller.js';
import type { Receipt } from '../late-evidence/late-evidence.recorder.js';

/** One line of a statement: what the tool's own books say about one effect. */
export interface StatementLine {
  readonly lineId: string;
  readonly finding: 'happened' | 'failed' | 'pending';
  readonly key: string | null;
  readonly reference: string | null;
  readonly effect: JsonValue;
}

/** Evidence in a batch: each line is matched by key or reference, and lines without a call are kept. */
export class RecordStatement extends Command<readonly Receipt[]> {
  constructor(
    readonly caller: Caller,
    readonly statementId: string,
    readonly capability: string,
    readonly lines: readonly StatementLine[],
  ) {
    super();
  }
}
