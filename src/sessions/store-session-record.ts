import { Injectable } from '@nestjs/common';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { isEnded } from '../domain/run/run.state.js';
import type { SessionKey } from '../domain/session/session-key.js';
import { shownSessionId } from '../domain/session/session-id.js';
import type { ToolCallStatus } from '../domain/tool-call/tool-call.state.js';
import { openCheckpointsOf } from '../storage/readers/session-records.js';
import { runFacts, runState } from '../storage/rows/run.row.js';
import type { TableRow } from '../storage/rows/tables.js';
import { GuardFailed, type Guard } from '../storage/unit.js';
import { archiveCheckpoints } from '../storage/units/checkpoint-in-unit.js';
import { closePlanReview } from '../storage/units/plan-review-in-unit.js';
import { closeUnsent } from '../storage/units/close-unsent.js';
import { callFromRow, loadApproval } from '../storage/units/load.js';
import { revokeRunLeases } from '../storage/units/lease-in-unit.js';
import { RunInUnit } from '../storage/units/run-in-unit.js';
import { loadedSession, SessionInUnit, sessionStream } from '../storage/units/session-in-unit.js';
import { COUNTERSIGN, UnitDesk } from '../storage/units/unit-desk.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';
import { recordCheckpoint } from '../storage/units/wait-checkpoint.js';
import { Logger } from '../system/logger.js';
import { Metrics } from '../system/metrics/metrics.js';
import {
  SessionRecord,
  type GovernedEvent,
  type ImportedState,
  type Interruption,
  type PersistenceDiagnostic,
  type Repair,
} from './session-record.js';

const PAGE = 500;
const CALLS_MAX = 1000;
const TRIES_MAX = 3;

/** Nothing of these has been sent. */
const UNSENT: readonly ToolCallStatus[] = ['proposed', 'authorized'];

/** What recovery states about a session, in the event store. */
@Injectable()
export class StoreSessionRecord extends SessionRecord {
  private readonly diagnostics;

  constructor(
    private readonly desk: UnitDesk,
    private readonly logger: Logger,
    metrics: Metrics,
  ) {
    super();
    this.diagnostics = metrics.counter(
      'countersign_session_diagnostics_total',
      'What happened to logs and snapshots of sessions that operators should know of, by name.',
      ['name'],
    );
  }

  override async *governedEvents(key: SessionKey, afterPosition: number): AsyncIterable<GovernedEvent> {
    for (let after = afterPosition; ;) {
      const page = await this.desk.read.sessionEvents(key.tenant, key.sessionId, after, PAGE);
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = last.event.position;
    }
  }

  override commitInterruption(key: SessionKey, { runId, turnId, lastSeq }: Interruption): Promise<void> {
    return this.untilSettled(async () => {
      const run = await this.desk.read.run(key.tenant, runId);
      if (run === null || (run.status !== 'running' && run.status !== 'suspending')) return null;
      const draft = this.about(run);
      const command = { kind: 'interrupt', interruption: { lastSeq } } as const;
      new RunInUnit(draft, { state: runState(run), facts: runFacts(run) }).do(command, 'recovery');
      recordCheckpoint(draft, { runId, sessionId: key.sessionId, turnId }, 'recovered');
      return draft;
    });
  }

  override commitRepaired(key: SessionKey, { lastSeq, oldRevision }: Repair): Promise<void> {
    return this.untilSettled(async () => {
      const session = await this.desk.read.session(key.tenant, key.sessionId);
      if (session === null || (await this.isRepaired(key, oldRevision))) return null;
      const draft = this.aboutSession(key);
      const repair = { tornFrom: lastSeq + 1, closers: [], oldRevision };
      new SessionInUnit(draft, loadedSession(session)).do({ kind: 'record_repair', repair });
      return draft;
    });
  }

  override commitImported(key: SessionKey, { sourceDigest, agentState }: ImportedState): Promise<void> {
    return this.untilSettled(async () => {
      const session = await this.desk.read.session(key.tenant, key.sessionId);
      if (session === null || (await this.isImported(key))) return null;
      const draft = this.aboutSession(key);
      const imported = {
        sourceDigest,
        sourceSchemaVersion: agentState.schemaVersion,
        agentState: agentState as unknown as JsonObject,
      };
      new SessionInUnit(draft, loadedSession(session)).do({ kind: 'import', imported });
      return draft;
    });
  }

  /** Nothing of what a marked run had not sent is ever sent; what was sent is still found out. */
  override markNotResumable(key: SessionKey, runId: string): Promise<void> {
    return this.untilSettled(async () => {
      const run = await this.desk.read.run(key.tenant, runId);
      if (run === null) return null;
      const draft = this.about(run).guard(nothingUnsent(runId));
      const state = runState(run);
      if (isEnded(state.status)) return null;
      // What is proposed meanwhile fails the guard, and is given up like the rest.
      for (const row of await this.desk.read.openCalls(key.tenant, runId, CALLS_MAX)) {
        if (UNSENT.includes(row.status)) await this.giveUp(row);
      }
      await revokeRunLeases(this.desk.read, draft, run, 'run_not_resumable');
      const marking = { markerSeenAt: this.desk.now() };
      new RunInUnit(draft, { state, facts: runFacts(run) }).do({ kind: 'mark_not_resumable', marking }, 'recovery');
      await closePlanReview(this.desk.read, draft, run);
      archiveCheckpoints(draft, await openCheckpointsOf(this.desk.read, run));
      return draft;
    });
  }

  /** One process has the data directory at a time: whoever holds it holds every session in it. */
  override isOwnedElsewhere(): Promise<boolean> {
    return Promise.resolve(false);
  }

  override audit(name: PersistenceDiagnostic, { tenant, sessionId }: SessionKey, details: JsonObject): void {
    this.diagnostics.inc({ name });
    const shown = Object.fromEntries(Object.entries(details).filter(([, value]) => typeof value !== 'object'));
    this.logger.warn(name, { ...(shown as Record<string, string>), tenant, sessionId: shownSessionId(sessionId) });
  }

  private giveUp(row: TableRow<'tool_calls'>): Promise<void> {
    return this.untilSettled(async () => {
      const now = await this.desk.read.toolCall(row.tenant, row.tool_call_id);
      if (now === null || !UNSENT.includes(now.status)) return null;
      const approval =
        now.approval_id === null ? null : await loadApproval(this.desk.read, now.tenant, now.approval_id);
      const draft = this.about(now);
      closeUnsent(draft, await callFromRow(this.desk.read, now), approval, 'run_not_resumable', 'recovery');
      return draft;
    });
  }

  private async isImported(key: SessionKey): Promise<boolean> {
    const events = await this.desk.read.streamEvents(key.tenant, sessionStream(key));
    return events.some(({ envelope }) => envelope.eventType === 'session.imported');
  }

  private async isRepaired(key: SessionKey, oldRevision: string): Promise<boolean> {
    const events = await this.desk.read.streamEvents(key.tenant, sessionStream(key));
    return events.some(
      ({ envelope, payload }) => envelope.eventType === 'session.repaired' && payload['oldRevision'] === oldRevision,
    );
  }

  private about(row: Parameters<UnitDesk['beginAbout']>[0]): UnitDraft {
    return this.desk.beginAbout(row, { lane: 'govern', causeKind: 'timer', synthetic: true });
  }

  private aboutSession({ tenant, sessionId }: SessionKey): UnitDraft {
    return this.desk.begin({
      tenant,
      lane: 'govern',
      actor: COUNTERSIGN,
      correlationId: sessionId,
      sessionId,
      occurredAt: this.desk.now(),
      causationId: null,
      causeKind: 'external',
      synthetic: true,
    });
  }

  /** Commits what is still to be said; a lost race is looked at again. */
  private async untilSettled(say: () => Promise<UnitDraft | null>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      const draft = await say();
      if (draft === null || draft.isEmpty) return;
      try {
        await this.desk.commit(draft);
        return;
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        if (tries === TRIES_MAX) throw new CountersignError('contended', 'others change the same records all the time');
      }
    }
  }
}

const nothingUnsent = (runId: string): Guard => ({
  name: 'no_open_call',
  table: 'tool_calls',
  where: { run_id: runId, status: { oneOf: UNSENT } },
  expect: 'absent',
});
