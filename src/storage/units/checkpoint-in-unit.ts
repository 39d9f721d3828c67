import type { CheckpointState } from '../../domain/checkpoint/checkpoint.state.js';
import {
  decideCheckpoint,
  evolveCheckpoint,
  type CheckpointCommand,
} from '../../domain/checkpoint/checkpoint.decide.js';
import type { Producer } from '../../domain/events/catalogue.js';
import { checkpointFacts, checkpointRow, checkpointState, type CheckpointFacts } from '../rows/session.row.js';
import type { TableRow } from '../rows/tables.js';
import type { Write } from '../unit.js';
import type { UnitDraft } from './unit-draft.js';

export interface CheckpointBefore {
  readonly state: CheckpointState | null;
  readonly facts: CheckpointFacts;
}

export const loadedCheckpoint = (row: TableRow<'checkpoints'>): CheckpointBefore => ({
  state: checkpointState(row),
  facts: checkpointFacts(row),
});

/** One checkpoint inside a unit in the making. */
export class CheckpointInUnit {
  private current: CheckpointState | null;
  private facts: CheckpointFacts;

  constructor(
    private readonly draft: UnitDraft,
    private readonly before: CheckpointBefore,
  ) {
    this.current = before.state;
    this.facts = before.facts;
    draft.rowsFrom({ rows: () => this.rows() });
  }

  do(command: CheckpointCommand, producer?: Producer): this {
    const decided = decideCheckpoint(this.current, command);
    if (!decided.ok) throw new Error(decided.message);
    const { checkpoint_id: id, run_id: runId, session_id: sessionId, turn_id: turnId } = this.facts;
    const refs = { runId, sessionId, ...(turnId === null ? {} : { turnId }) };
    this.draft.append({ kind: 'checkpoint', id }, this.facts.version, decided.events, refs, producer);
    for (const event of decided.events) {
      this.current = evolveCheckpoint(this.current, event);
      this.facts = { ...this.facts, version: this.facts.version + 1, updated_at: this.draft.context.occurredAt };
    }
    return this;
  }

  private rows(): readonly Write[] {
    const { before, current, facts } = this;
    if (current === null || facts.version === before.facts.version) return [];
    const row = checkpointRow(facts, current);
    if (before.state === null) return [{ op: 'insert', table: 'checkpoints', row, takenGuard: 'checkpoint' }];
    const where = { checkpoint_id: row.checkpoint_id, version: before.facts.version };
    return [{ op: 'set', table: 'checkpoints', where, set: row, guard: 'checkpoint' }];
  }
}

/** Checkpoints serve the task they were made in: with the end of their run they are archived. */
export function archiveCheckpoints(draft: UnitDraft, rows: readonly TableRow<'checkpoints'>[]): void {
  for (const row of rows) {
    new CheckpointInUnit(draft, loadedCheckpoint(row)).do({ kind: 'archive', checkpointId: row.checkpoint_id });
  }
}
