import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { jsonDigest } from '../../domain/digests/digests.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { EventRefs } from '../../domain/events/envelope.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { workRefusal } from '../../domain/run/run.admission.js';
import type { RunCommand } from '../../domain/run/run.commands.js';
import type { Caller } from '../../identity/caller.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { RunInUnit, runIsOpen } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { beginInRun, loadOwnRun, type LoadedRun } from '../own-run.js';
import { RecordInRun, type Recorded, type Statement } from './record-in-run.command.js';

const TRIES_MAX = 3;

interface Grounds {
  readonly refs: EventRefs;
  /** Null: the statement begins an intent of its own. */
  readonly correlationId: string | null;
}

/** Records what a harness states about its run: once per client id, and only about what the run has. */
@CommandHandler(RecordInRun)
export class RecordInRunHandler implements ICommandHandler<RecordInRun> {
  constructor(private readonly desk: UnitDesk) {}

  async execute({ caller, runId, statement }: RecordInRun): Promise<Recorded> {
    const place = runId ?? (await this.runOfTurn(caller, statement));
    const requestDigest = jsonDigest({ ...statement } as unknown as JsonObject);
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const run = await loadOwnRun(this.desk.read, caller, place);
      const earlier = await this.earlier(caller, run, statement, requestDigest);
      if (earlier !== null) return earlier;
      const grounds = await this.groundsOf(caller, run, statement);
      try {
        return await this.record(caller, run, statement, { grounds, requestDigest });
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
    throw new CountersignError('contended', 'other writers changed the same records three times in a row');
  }

  private async record(
    caller: Caller,
    run: LoadedRun,
    statement: Statement,
    { grounds, requestDigest }: { readonly grounds: Grounds; readonly requestDigest: string },
  ): Promise<Recorded> {
    const { refs } = grounds;
    const now = this.desk.now();
    const objectId = this.desk.newId(ID_PREFIXES[statement.kind]);
    // A judgement begins a business intent, unless it belongs to one that has a name already.
    const correlationId = grounds.correlationId ?? (statement.kind === 'reasoning' ? objectId : run.row.run_id);
    const draft = beginInRun(this.desk, caller, run.row, { lane: 'admit', now, correlationId });
    const stated = commandOf(statement, objectId);
    let eventId: string | null = null;
    if (stated === null) {
      const refusal = workRefusal(run.state.status);
      if (refusal !== null) throw new CountersignError(refusal.code, refusal.message);
      draft.guard(runIsOpen(run.row.run_id));
    } else {
      const inUnit = new RunInUnit(draft, run).do(stated, 'harness', { ...refs, ...refOf(statement, objectId) });
      eventId = inUnit.eventIds[0] ?? null;
    }
    const turnId = refs.turnId ?? null;
    draft.write({
      op: 'insert',
      table: 'run_objects',
      takenGuard: 'run_object',
      row: {
        object_id: objectId,
        tenant: caller.tenant,
        run_id: run.row.run_id,
        kind: statement.kind,
        client_id: statement.clientId,
        request_digest: requestDigest,
        turn_id: turnId,
        correlation_id: correlationId,
        state: statement.kind === 'subagent' ? 'running' : 'recorded',
        event_id: eventId,
        created_at: now,
        updated_at: now,
      },
    });
    await this.desk.commit(draft);
    return { objectId, runId: run.row.run_id, turnId, replayed: false };
  }

  /** What the same client id was answered before; null when it is new. */
  private async earlier(
    { tenant }: Caller,
    { row: run }: LoadedRun,
    { kind, clientId }: Statement,
    requestDigest: string,
  ): Promise<Recorded | null> {
    const row = await this.desk.read.runObjectByClientId(tenant, run.run_id, kind, clientId);
    if (row === null) return null;
    if (row.request_digest !== requestDigest) {
      throw new CountersignError('duplicate_id', 'this clientId named something else in the run', {
        pointer: '/clientId',
      });
    }
    return { objectId: row.object_id, runId: row.run_id, turnId: row.turn_id, replayed: true };
  }

  private async runOfTurn({ tenant }: Caller, statement: Statement): Promise<string> {
    const turn = 'turnId' in statement ? await this.object(tenant, statement.turnId, 'turn') : null;
    if (turn === null) throw new CountersignError('turn_not_found', 'there is no such turn');
    return turn.run_id;
  }

  /** K-26: a link of the chain crosses by a key that exists. What rests on something belongs to the same intent. */
  private async groundsOf({ tenant }: Caller, { row: run }: LoadedRun, statement: Statement): Promise<Grounds> {
    if (statement.kind === 'turn') return { refs: {}, correlationId: null };
    if (statement.kind === 'reasoning') {
      const { turnId, skillId, intentId } = statement;
      return { refs: { turnId, ...(skillId === null ? {} : { skillId }) }, correlationId: intentId };
    }
    const reasoningObjectId = statement.kind === 'artifact' ? statement.reasoningObjectId : null;
    const reasoning = reasoningObjectId === null ? null : await this.object(tenant, reasoningObjectId, 'reasoning');
    if (reasoningObjectId !== null && reasoning?.run_id !== run.run_id) throw dangling('reasoningObjectId');
    const { toolCallId } = statement;
    const call = toolCallId === null ? null : await this.desk.read.toolCall(tenant, toolCallId);
    if (toolCallId !== null && call?.run_id !== run.run_id) throw dangling('toolCallId');
    const refs = {
      ...(reasoningObjectId === null ? {} : { reasoningObjectId }),
      ...(toolCallId === null ? {} : { toolCallId }),
    };
    return { refs, correlationId: call?.correlation_id ?? reasoning?.correlation_id ?? run.run_id };
  }

  private async object(
    tenant: string,
    objectId: string,
    kind: Statement['kind'],
  ): Promise<TableRow<'run_objects'> | null> {
    const row = await this.desk.read.runObject(tenant, objectId);
    return row?.kind === kind ? row : null;
  }
}

const dangling = (field: string): CountersignError =>
  new CountersignError('dangling_reference', `${field} names nothing in this run`, { pointer: `/${field}` });

/** Null for a turn: its story is told in the log of a session, here it has a name only. */
function commandOf(statement: Statement, objectId: string): RunCommand | null {
  switch (statement.kind) {
    case 'turn':
      return null;
    case 'reasoning':
      return { kind: 'record_reasoning', reasoning: statement.reasoning };
    case 'artifact':
      return { kind: 'record_artifact', artifact: statement.artifact };
    case 'subagent':
      return { kind: 'spawn_subagent', spawning: { ...statement.spawning, subagentId: objectId } };
  }
}

function refOf({ kind }: Statement, objectId: string): EventRefs {
  switch (kind) {
    case 'reasoning':
      return { reasoningObjectId: objectId };
    case 'artifact':
      return { artifactId: objectId };
    case 'turn':
    case 'subagent':
      return {};
  }
}
