import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { cancelBy, stoppable } from '../../capabilities/cancellation.js';
import { Settings } from '../../config/settings.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { closeUnsent } from '../../storage/units/close-unsent.js';
import { openCheckpointsOf } from '../../storage/readers/session-records.js';
import { runFacts, runState } from '../../storage/rows/run.row.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { archiveCheckpoints } from '../../storage/units/checkpoint-in-unit.js';
import { closePlanReview } from '../../storage/units/plan-review-in-unit.js';
import { callFromRow, loadApproval, type LoadedCall } from '../../storage/units/load.js';
import { revokeRunLeases } from '../../storage/units/lease-in-unit.js';
import { RunInUnit } from '../../storage/units/run-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import { Logger, errorName } from '../../system/logger.js';
import { legOf, UNSETTLED, type LegOfCall } from '../core/stop-leg.js';
import { CallRecorder } from '../executor/call-recorder.js';

/** Calls named in `run.stopped`; of more the number is enough, their own streams say the rest. */
const NAMED_MAX = 1000;

interface CallLeg extends LegOfCall {
  readonly toolCallId: string;
}

/**
 * One step of the stop of one run: what was not sent ends, what is on the wire is asked to stop or said to be beyond
 * that, and when every leg is settled the run is stopped. Each step finds its own work done when it is repeated.
 */
@Injectable()
export class StopLegs {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly recorder: CallRecorder,
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  /** True when the run needs no further step. @throws GuardFailed when somebody else moved one of its records. */
  async step(tenant: string, runId: string): Promise<boolean> {
    const run = await this.desk.read.run(tenant, runId);
    if (run === null || run.status !== 'stopping') return true;
    const { eventId, requestedAt } = await this.request(run);
    if (run.model_leg === 'active') await this.giveUpOnModel(run, requestedAt);
    const legs: CallLeg[] = [];
    for (const row of await this.desk.read.callsInStop(tenant, runId, requestedAt)) {
      const call = await callFromRow(this.desk.read, row);
      const leg = legOf(call.state, this.isObserved(call));
      legs.push({ ...leg, toolCallId: row.tool_call_id });
      if (leg.next !== null) await this.tryMove(call, leg.next, eventId);
    }
    // What was moved is looked at again: the records of that wake the next step.
    if (run.model_leg === 'active' || legs.some(({ settled }) => !settled)) return false;
    await this.finish(run, legs);
    return true;
  }

  /** S4: a harness that has not reported in time is taken as lost; nothing is claimed about what its model did. */
  private async giveUpOnModel(run: TableRow<'runs'>, requestedAt: string): Promise<void> {
    const lostAtMs = Date.parse(requestedAt) + this.settings.runs.modelCancelMs;
    if (this.desk.clock.now() < lostAtMs) return;
    const draft = this.begin({ ...run, correlation_id: run.run_id }, null);
    new RunInUnit(draft, { state: runState(run), facts: runFacts(run) }).do(
      { kind: 'cancel_model', cancellation: { basis: 'harness_lost' } },
      'recovery',
    );
    await this.desk.commit(draft);
  }

  /** One call that cannot be moved holds up no other; the sweep comes back to it. */
  private async tryMove(call: LoadedCall, next: 'close' | 'stop_at_tool', cause: string | null): Promise<void> {
    try {
      await this.move(call, next, cause);
    } catch (error) {
      if (error instanceof GuardFailed) throw error;
      const toolCallId = call.row.tool_call_id;
      this.logger.error('a call of a stopped run could not be stopped', { toolCallId, error: errorName(error) });
    }
  }

  private async request(run: TableRow<'runs'>): Promise<{ eventId: string | null; requestedAt: string }> {
    const events = await this.desk.read.streamEvents(run.tenant, { kind: 'run', id: run.run_id });
    const stop = events.find(({ envelope }) => envelope.eventType === 'stop.requested');
    return {
      eventId: stop?.envelope.eventId ?? null,
      requestedAt: stop?.envelope.occurredAt ?? run.updated_at,
    };
  }

  private async move(call: LoadedCall, next: 'close' | 'stop_at_tool', cause: string | null): Promise<void> {
    if (next === 'stop_at_tool') {
      const because = cause === null ? call : { ...call, row: { ...call.row, last_event_id: cause } };
      await this.recorder.record(because, this.atTheTool(call));
      return;
    }
    const { row } = call;
    const approval = row.approval_id === null ? null : await loadApproval(this.desk.read, row.tenant, row.approval_id);
    const draft = this.begin(row, cause);
    closeUnsent(draft, call, approval, 'stopped', 'control-plane');
    await this.desk.commit(draft);
  }

  /** Asks where the manifest says how; otherwise it is said that the action cannot be undone, and it goes on. */
  private atTheTool({ state }: LoadedCall): ToolCallCommand {
    const stop = stoppable(this.gate.bound(state), state);
    return stop.possible
      ? {
          kind: 'request_cancellation',
          cancellation: { deadline: cancelBy(stop.cancel, this.desk.clock.now()) },
        }
      : { kind: 'record_irreversible', irreversible: { reason: stop.reason } };
  }

  /** Somebody beyond the attempt waits for the result: a callback or a poll of the manifest. */
  private isObserved({ state }: LoadedCall): boolean {
    const lateResult = this.gate.bound(state)?.manifest.lateResult ?? 'none';
    return lateResult !== 'none';
  }

  private async finish(run: TableRow<'runs'>, legs: readonly CallLeg[]): Promise<void> {
    const calls: JsonObject[] = legs
      .slice(0, NAMED_MAX)
      .map(({ toolCallId, leg }) => ({ toolCallId, leg: leg === 'open' ? 'handed_over' : leg }));
    const model = run.model_leg;
    const draft = this.begin({ ...run, correlation_id: run.run_id }, null);
    draft.guard({
      name: 'no_open_leg',
      table: 'tool_calls',
      where: { run_id: run.run_id, status: { oneOf: UNSETTLED } },
      expect: 'absent',
    });
    await revokeRunLeases(this.desk.read, draft, run, 'stopped');
    new RunInUnit(draft, { state: runState(run), facts: runFacts(run) }).do(
      { kind: 'stop', stop: { legs: { model, calls, callCount: legs.length } }, openCalls: 0 },
      'session-runtime',
    );
    await closePlanReview(this.desk.read, draft, run);
    archiveCheckpoints(draft, await openCheckpointsOf(this.desk.read, run));
    await this.desk.commit(draft);
  }

  private begin(row: Parameters<UnitDesk['beginAbout']>[0], cause: string | null): UnitDraft {
    const about = cause === null ? row : { ...row, last_event_id: cause };
    return this.desk.beginAbout(about, { lane: 'govern', causeKind: cause === null ? 'timer' : 'event' });
  }
}
