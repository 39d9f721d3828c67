import { Injectable } from '@nestjs/common';
import type { Producer } from '../../domain/events/catalogue.js';
import type { Actor } from '../../domain/events/envelope.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { isTerminal } from '../../domain/tool-call/tool-call.state.js';
import { toolCallRow } from '../../storage/rows/tool-call.row.js';
import { Store } from '../../storage/store.js';
import { GuardFailed } from '../../storage/unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadCall, type LoadedCall } from '../../storage/units/load.js';
import { UnitDraft } from '../../storage/units/unit-draft.js';
import { Clock } from '../../system/clock.js';
import { IdSource } from '../../system/id-source.js';
import { Logger, errorName } from '../../system/logger.js';
import { lateCommand } from '../core/late-result.js';

/** The proxy itself, when it speaks of what it did. */
export const PROXY: Actor = { sub: 'countersign' };

const TRIES_MAX = 5;
const PAUSE_MS = 20;

/** Writes what the proxy did about one call, always in the lane that is never refused. */
@Injectable()
export class CallRecorder {
  constructor(
    private readonly store: Store,
    private readonly ids: IdSource,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** Appends one command's events. @throws GuardFailed when somebody else moved the call. */
  async record(
    call: LoadedCall,
    command: ToolCallCommand,
    options: { readonly nextAt?: string; readonly producer?: Producer; readonly synthetic?: true } = {},
  ): Promise<LoadedCall> {
    const { row } = call;
    const draft = new UnitDraft(this.ids, {
      tenant: row.tenant,
      lane: 'settle',
      actor: PROXY,
      correlationId: row.tool_call_id,
      runId: row.run_id,
      sessionId: row.session_id,
      occurredAt: new Date(this.clock.now()).toISOString(),
      causationId: row.last_event_id,
      causeKind: 'event',
      ...(options.synthetic === undefined ? {} : { synthetic: options.synthetic }),
    });
    const next = new CallInUnit(draft, call).do(command, {}, options.producer);
    if (options.nextAt !== undefined) next.workAt({ nextAt: options.nextAt });
    await this.store.commit(draft.build());
    const { state, facts } = next.after;
    if (state === null) throw new Error('a recorded call has a state');
    return { state, facts, row: toolCallRow(facts, state) };
  }

  /**
   * Records how an attempt ended. When somebody else moved the call meanwhile, the answer is recorded against what is
   * true now: as the settlement, as evidence for an unknown result, or as a contradiction. False when it could not be
   * recorded at all; the sweep then finds the call and says that its result is unknown.
   */
  async settle(call: LoadedCall, command: ToolCallCommand, timing: { readonly quiesceMs: number }): Promise<boolean> {
    let current = call;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      try {
        const fitting = lateCommand(current.state, command);
        if (fitting === null) return true;
        await this.record(current, fitting, reconcileFrom(current, timing.quiesceMs));
        return true;
      } catch (error) {
        if (!(error instanceof GuardFailed)) {
          this.logger.error('the end of an attempt could not be recorded', {
            toolCallId: call.row.tool_call_id,
            error: error instanceof CountersignError ? error.code : errorName(error),
          });
          return false;
        }
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * tries));
        const fresh = await loadCall(this.store.read, call.row.tenant, call.row.tool_call_id);
        if (fresh === null) return false;
        current = fresh;
      }
    }
    this.logger.error('the end of an attempt lost every race', { toolCallId: call.row.tool_call_id, terminal: isTerminal(current.state.status) });
    return false;
  }
}

/** When the reconciler may look: not before everything that was on the wire must have arrived. */
export function reconcileFrom(call: LoadedCall, quiesceMs: number): { nextAt?: string } {
  if (!('deadline' in call.state)) return {};
  return { nextAt: new Date(Date.parse(call.state.deadline) + quiesceMs).toISOString() };
}
