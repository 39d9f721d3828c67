import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Producer } from '../../domain/events/catalogue.js';
import type { EventRefs } from '../../domain/events/envelope.js';
import type { RunCommand } from '../../domain/run/run.commands.js';
import { decideRun } from '../../domain/run/run.decide.js';
import { evolveRun } from '../../domain/run/run.evolve.js';
import { RUN_OPEN_STATUSES, type RunState } from '../../domain/run/run.state.js';
import { runRow, type RunFacts } from '../rows/run.row.js';
import type { Guard, Write } from '../unit.js';
import type { UnitDraft } from './unit-draft.js';

export interface RunBefore {
  readonly state: RunState | null;
  readonly facts: RunFacts;
}

/** One run inside a unit in the making. */
export class RunInUnit {
  private current: RunState | null;
  private facts: RunFacts;
  private readonly ids: string[] = [];

  constructor(
    private readonly draft: UnitDraft,
    private readonly before: RunBefore,
  ) {
    this.current = before.state;
    this.facts = before.facts;
    draft.rowsFrom({ rows: () => this.rows() });
  }

  /** Ids of the run's events in this unit, in order. */
  get eventIds(): readonly string[] {
    return this.ids;
  }

  /** @throws CountersignError with the code of the transition table when the machine refuses. */
  do(command: RunCommand, producer?: Producer, more: EventRefs = {}): this {
    const decided = decideRun(this.current, command);
    if (!decided.ok) throw new CountersignError(decided.code, decided.message);
    const stream = { kind: 'run', id: this.facts.run_id } as const;
    const refs = { runId: this.facts.run_id, sessionId: this.facts.session_id, ...more };
    this.ids.push(...this.draft.append(stream, this.facts.version, decided.events, refs, producer));
    for (const event of decided.events) {
      this.current = evolveRun(this.current, event);
      this.facts = { ...this.facts, version: this.facts.version + 1, updated_at: this.draft.context.occurredAt };
    }
    return this;
  }

  private rows(): readonly Write[] {
    if (this.current === null || this.facts.version === this.before.facts.version) return [];
    const row = runRow(this.facts, this.current);
    if (this.before.state === null) return [{ op: 'insert', table: 'runs', row, takenGuard: 'run_label' }];
    const where = { run_id: row.run_id, version: this.before.facts.version };
    return [{ op: 'set', table: 'runs', where, set: row, guard: 'run' }];
  }
}

/** A decision of people may be recorded while the run rests, too: nothing is sent before it is resumed. */
export function runTakesDecisions(runId: string): Guard {
  const status = { oneOf: [...RUN_OPEN_STATUSES, 'suspended'] };
  return { name: 'run_open', table: 'runs', where: { run_id: runId, status }, expect: 'present' };
}

/** Units about calls hold the run to be open and never bump its version. */
export function runIsOpen(runId: string): Guard {
  return {
    name: 'run_open',
    table: 'runs',
    where: { run_id: runId, status: { oneOf: RUN_OPEN_STATUSES } },
    expect: 'present',
  };
}
