import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Producer } from '../../domain/events/catalogue.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { GuardFailed } from '../../storage/unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { loadCall, type LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName, type LogFields } from '../../system/logger.js';
import { pause } from '../../system/timers.js';
import { lateCommand } from '../core/late-result.js';
import { followOutcome } from './outcome-opening.js';

const TRIES_MIN = 5;
const PAUSE_MS = 10;
const PAUSE_MS_MAX = 500;
/** How long after the deadline of an attempt its answer is still worth recording. */
const CLAIM_GRACE_MS = 5000;

export interface Recording {
  /** ISO 8601: when the reconciler may look next; where it is left out, the deadline and the manifest say. */
  readonly nextAt?: string;
  readonly producer?: Producer;
  /** True when recovery speaks for a process that is gone. */
  readonly synthetic?: true;
}

/** Writes what the proxy did about one call, always in the lane that is never refused. */
@Injectable()
export class CallRecorder {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly logger: Logger,
  ) {}

  /** Appends one command's events. @throws GuardFailed when somebody else moved the call. */
  async record(call: LoadedCall, command: ToolCallCommand, recording: Recording = {}): Promise<LoadedCall> {
    const draft = this.desk.beginAbout(call.row, {
      lane: 'settle',
      causeKind: 'event',
      ...(recording.synthetic === undefined ? {} : { synthetic: recording.synthetic }),
    });
    draft.guard(this.desk.ownerGuard());
    const next = new CallInUnit(draft, call).do(command, {}, recording.producer);
    const nextAt = recording.nextAt ?? this.reconcileFrom(call, command, recording.synthetic === true);
    if (nextAt !== undefined) next.workAt({ nextAt });
    await followOutcome({ read: this.desk.read, gate: this.gate }, draft, call, next);
    await this.desk.commit(draft);
    const { facts, lease } = next.after;
    return { state: next.state, facts, row: next.row, ...(lease === undefined ? {} : { lease }) };
  }

  /**
   * Records that the request was given to the socket. Somebody may have asked for its cancellation meanwhile: then that
   * comes first, and this is recorded behind it.
   */
  async recordSent(call: LoadedCall, dispatchedAt: string): Promise<LoadedCall> {
    const command = { kind: 'record_sent', sent: { dispatchedAt } } as const;
    try {
      return await this.record(call, command);
    } catch (error) {
      const now = error instanceof GuardFailed ? await this.again(call) : null;
      if (now === null || now.state.attempt !== call.state.attempt || now.state.status !== 'dispatching') throw error;
      return this.record(now, command);
    }
  }

  /**
   * Records how an attempt ended. When somebody else moved the call meanwhile, the answer is recorded against what is
   * true now: as the settlement, as evidence for an unknown result, or as a contradiction. A store that cannot write is
   * asked again while the claim lives; after that the sweep finds the call and says that its result is unknown.
   */
  async settle(call: LoadedCall, command: ToolCallCommand): Promise<void> {
    const until = 'deadline' in call.state ? Date.parse(call.state.deadline) + CLAIM_GRACE_MS : 0;
    let current = call;
    let failure: unknown = null;
    for (let tries = 0; tries < TRIES_MIN || this.desk.clock.now() < until; tries += 1) {
      try {
        // What an earlier attempt brought says nothing about a later one, and must never end it.
        if (current.state.attempt !== call.state.attempt) break;
        const fitting = lateCommand(current.state, command);
        if (fitting !== null) await this.record(current, fitting);
        return;
      } catch (error) {
        failure = error;
        if (!mayPass(error)) break;
      }
      await pause(Math.min(PAUSE_MS * 2 ** tries, PAUSE_MS_MAX));
      current = (await this.again(call)) ?? current;
    }
    const code = failure instanceof CountersignError ? failure.code : errorName(failure);
    // What nobody can record any more is kept where people may find it: not what the tool said, but how to ask it.
    this.logger.error('the end of an attempt could not be recorded', {
      toolCallId: call.row.tool_call_id,
      attempt: call.state.attempt,
      error: code,
      ...traceOf(command),
    });
  }

  private again({ row }: LoadedCall): Promise<LoadedCall | null> {
    return loadCall(this.desk.read, row.tenant, row.tool_call_id).catch(() => null);
  }

  /**
   * Not before everything that was on the wire must have arrived. What this process itself had there was torn down just now,
   * whatever a clock that has jumped ahead makes of the deadline.
   */
  private reconcileFrom({ state }: LoadedCall, command: ToolCallCommand, isOrphan: boolean): string | undefined {
    if (command.kind !== 'mark_unknown' || !('deadline' in state)) return undefined;
    const quiesceMs = this.gate.get(state.capability)?.manifest.quiesceMs ?? 0;
    const tornDownMs = isOrphan ? 0 : this.desk.clock.now();
    return new Date(Math.max(Date.parse(state.deadline), tornDownMs) + quiesceMs).toISOString();
  }
}

/** What an answer was and how to find it at the tool; nothing that anybody wrote in it. */
function traceOf(command: ToolCallCommand): LogFields {
  const answer = command.kind;
  if (command.kind === 'complete') return { answer, resultDigest: command.completion.resultDigest };
  if (command.kind === 'fail') return { answer, code: command.failure.code, effect: command.failure.effect };
  if (command.kind === 'mark_unknown') return { answer, cause: command.unknown.cause };
  if (command.kind === 'record_acceptance') {
    return { answer, externalRequestId: command.acceptance.externalRequestId ?? null };
  }
  return { answer };
}

/** A lost race, or a store that may write again; a refusal of the machine stays a refusal. */
function mayPass(error: unknown): boolean {
  if (error instanceof GuardFailed) return true;
  return (
    error instanceof CountersignError && (error.code === 'store_unavailable' || error.code === 'durability_failed')
  );
}
