import { Injectable } from '@nestjs/common';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import { RUN_OPEN_STATUSES, type RunStatus } from '../../domain/run/run.state.js';
import type { Caller } from '../../identity/caller.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import type { Intent } from './intent-reader.js';
import type { Proposal } from './propose-tool-call.command.js';

/** The run a call belongs to; `fresh` when it is opened in the unit of the proposal. */
export interface RunPlace {
  readonly runId: string;
  readonly sessionId: string;
  readonly label: string | null;
  readonly fresh: boolean;
}

const REMEMBERED_MAX = 10_000;

/**
 * Finds the run of a proposal: the one the body names, the caller's label, or the principal's anonymous run of the UTC
 * day. A missing one is opened in the unit of the first proposal; the loser of that race reads the winner's.
 */
@Injectable()
export class RunDirectory {
  /** Open implicit runs by scope. It only saves a read: the unit guards that the run is open. */
  private readonly remembered = new Map<string, RunPlace>();

  constructor(private readonly desk: UnitDesk) {}

  async find(caller: Caller, proposal: Proposal, intent: Intent, now: string): Promise<RunPlace> {
    if (proposal.runId !== null) return this.named(caller.tenant, proposal.runId, intent);
    const label = proposal.runLabel === null ? `day:${now.slice(0, 10)}` : `label:${proposal.runLabel}`;
    const scope = scopeOf(caller.tenant, intent, label);
    const known = this.remembered.get(scope);
    if (known !== undefined) return known;
    const row = await this.desk.read.openRunByLabel(caller.tenant, intent.principalKey, label);
    if (row !== null) {
      this.mustBeOpen(row.status);
      return this.remember(scope, { runId: row.run_id, sessionId: row.session_id, label, fresh: false });
    }
    const runId = this.desk.newId(ID_PREFIXES.run);
    return { runId, sessionId: runId, label, fresh: true };
  }

  /** Opens a fresh run in front of the proposal's own events. */
  openIn(draft: UnitDraft, tenant: string, place: RunPlace, intent: Intent, now: string): void {
    if (!place.fresh) return;
    const facts = {
      run_id: place.runId,
      tenant,
      session_id: place.sessionId,
      version: 0,
      created_at: now,
      updated_at: now,
    };
    const principal = { ...intent.principal };
    new RunInUnit(draft, { state: null, facts }).do({
      kind: 'start',
      start: { implicit: true, label: place.label, principal },
    });
  }

  opened(tenant: string, intent: Intent, place: RunPlace): void {
    if (place.label !== null) this.remember(scopeOf(tenant, intent, place.label), { ...place, fresh: false });
  }

  /** Forgets what turned out to be closed, or opened by somebody else. */
  forget(tenant: string, intent: Intent, place: RunPlace): void {
    if (place.label !== null) this.remembered.delete(scopeOf(tenant, intent, place.label));
  }

  private async named(tenant: string, runId: string, intent: Intent): Promise<RunPlace> {
    const row = await this.desk.read.run(tenant, runId);
    if (row === null || row.principal !== intent.principalKey) {
      throw new CountersignError('run_not_found', 'there is no such run of this principal', { pointer: '/runId' });
    }
    this.mustBeOpen(row.status);
    return { runId: row.run_id, sessionId: row.session_id, label: null, fresh: false };
  }

  private mustBeOpen(status: RunStatus): void {
    if ((RUN_OPEN_STATUSES as readonly string[]).includes(status)) return;
    if (status === 'stopping') throw new CountersignError('run_stopping', 'the run is stopping');
    if (status === 'suspended') throw new CountersignError('run_suspended', 'the run is suspended');
    throw new CountersignError('run_already_ended', `the run is ${status}`);
  }

  private remember(scope: string, place: RunPlace): RunPlace {
    if (this.remembered.size >= REMEMBERED_MAX) this.remembered.clear();
    this.remembered.set(scope, place);
    return place;
  }
}

const scopeOf = (tenant: string, intent: Intent, label: string): string =>
  JSON.stringify([tenant, intent.principalKey, label]);
