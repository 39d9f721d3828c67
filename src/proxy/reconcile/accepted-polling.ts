import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import type { Capability } from '../../capabilities/manifest.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { ToolCallIn } from '../../domain/tool-call/tool-call.state.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { callFromRow, type LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { errorName, Logger } from '../../system/logger.js';
import type { LookedUp } from '../connectors/http.connector.js';
import { backoffMs } from '../core/backoff.js';
import { CallRecorder } from '../executor/call-recorder.js';
import { Inquiry } from './inquiry.js';

const BATCH = 32;

type Accepted = LoadedCall & { readonly state: ToolCallIn<'accepted'> };

/** How often a call was asked about, and when it may be again. Look-ups are read-only: a new process may begin anew. */
interface Asked {
  readonly times: number;
  /** Milliseconds since 1970. */
  readonly nextAtMs: number;
}

/**
 * Asks how it goes with what a tool has taken on, where the manifest says `lateResult: poll`: with its read-only probe, until the attempt's
 * deadline. A clear answer ends the call as the tool's own word; any other changes nothing. After the deadline the result
 * is unknown, and the reconciler goes on.
 */
@Injectable()
export class AcceptedPolling {
  private asked = new Map<string, Asked>();

  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly inquiry: Inquiry,
    private readonly recorder: CallRecorder,
    private readonly logger: Logger,
  ) {}

  /** Asks about everything that is due. Answers how many calls could not be looked after. */
  async tick(): Promise<number> {
    // Calls that wait for a callback can be many, and are not read in vain every second.
    if (!this.gate.anyPolls) return 0;
    const still = new Map<string, Asked>();
    let failed = 0;
    let after: string | null = null;
    for (;;) {
      const rows: readonly TableRow<'tool_calls'>[] = await this.desk.read.callsInStates(['accepted'], BATCH, after);
      const looked = await Promise.all(rows.map((row) => this.look(row, still)));
      failed += looked.filter((isDone) => !isDone).length;
      const last = rows[rows.length - 1];
      if (last === undefined || rows.length < BATCH) break;
      after = last.tool_call_id;
    }
    this.asked = still;
    return failed;
  }

  private async look(row: TableRow<'tool_calls'>, still: Map<string, Asked>): Promise<boolean> {
    const { tool_call_id: id } = row;
    const before = this.asked.get(id) ?? { times: 0, nextAtMs: 0 };
    const nowMs = this.desk.clock.now();
    try {
      const call = await callFromRow(this.desk.read, row);
      const capability = this.gate.bound(call.state);
      if (capability?.manifest.lateResult !== 'poll' || !isAccepted(call)) return true;
      if (nowMs >= Date.parse(call.state.deadline)) return true;
      still.set(id, before);
      if (nowMs < before.nextAtMs) return true;
      still.set(id, { times: before.times + 1, nextAtMs: nowMs + backoffMs(id, before.times) });
      await this.ask(call, capability);
      return true;
    } catch (error) {
      if (error instanceof GuardFailed) return true; // somebody else moved it, which is all this wants
      this.logger.error('an accepted call could not be asked about', { toolCallId: id, error: errorName(error) });
      return false;
    }
  }

  private async ask(call: Accepted, capability: Capability): Promise<void> {
    const looked = await this.inquiry.lookUp(call, capability);
    const command = looked === null ? null : endIn(looked, this.desk.now());
    if (command !== null) await this.recorder.record(call, command);
  }
}

/** Null while nobody can say how it ends. Not finding it says nothing here: the tool has taken it on. */
function endIn({ finding, evidence }: LookedUp, now: string): ToolCallCommand | null {
  switch (finding.finding) {
    case 'happened':
      return {
        kind: 'complete',
        acceptedAt: now,
        completion: {
          basis: 'direct',
          result: finding.effect,
          resultDigest: jsonDigest(finding.effect),
          resultTruncated: false,
          externalRequestId: finding.reference,
          evidence: { ...evidence, polled: true },
        },
      };
    case 'failed': {
      const failure = { code: 'failed_at_tool', effect: 'none', basis: 'rejected', retryable: false } as const;
      return { kind: 'fail', acceptedAt: now, failure: { ...failure, evidence: { ...evidence, polled: true } } };
    }
    case 'absent':
    case 'pending':
    case 'unclear':
      return null;
  }
}

const isAccepted = (call: LoadedCall): call is Accepted => call.state.status === 'accepted';
