import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { stoppable } from '../../capabilities/cancellation.js';
import { RecordTampered } from '../../policy/case-file.js';
import { Judge } from '../../policy/judge.js';
import { GuardFailed } from '../../storage/unit.js';
import { loadCall, type LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { HttpConnector } from '../connectors/http.connector.js';
import { cancelCommand, type CancelHeard } from '../core/cancel-answer.js';
import { CallRecorder } from '../executor/call-recorder.js';

const TRIES_MAX = 5;

const NOBODY_ASKED: CancelHeard = { answer: 'not_sent', effect: 'none', evidence: {} };

/** The carrying-out of one cancellation: the wish is durable already; here the tool is asked, and what it says recorded. */
@Injectable()
export class Cancellation {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
    private readonly connector: HttpConnector,
    private readonly recorder: CallRecorder,
  ) {}

  /** Null when there is nothing to ask now: the call has ended, was not sent yet, or nobody wants it cancelled. */
  async ready(tenant: string, toolCallId: string): Promise<LoadedCall | null> {
    const call = await loadCall(this.desk.read, tenant, toolCallId);
    if (call === null || !call.state.cancellationRequested) return null;
    return call.state.status === 'dispatched' || call.state.status === 'accepted' ? call : null;
  }

  async pursue(call: LoadedCall): Promise<void> {
    await this.record(call, await this.ask(call));
  }

  private async ask(call: LoadedCall): Promise<CancelHeard> {
    const capability = this.gate.bound(call.state);
    const stop = stoppable(capability, call.state);
    const leftMs = Date.parse(call.state.cancelBy ?? '') - this.desk.clock.now();
    if (capability === undefined || !stop.possible || !(leftMs > 0)) return NOBODY_ASKED;
    try {
      const { args, masked } = await this.judge.open(call);
      return await this.connector.cancel(capability, stop.cancel, {
        args,
        masked,
        downstreamKey: call.state.downstreamKey,
        externalRequestId: call.state.externalRequestId,
        deadline: this.desk.clock.monotonic() + Math.min(leftMs, stop.cancel.timeoutMs),
      });
    } catch (error) {
      if (error instanceof RecordTampered) return NOBODY_ASKED;
      throw error;
    }
  }

  /** Against what is true when the answer is there: the attempt may have ended meanwhile. */
  private async record(asked: LoadedCall, heard: CancelHeard): Promise<void> {
    let current: LoadedCall | null = asked;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      if (current === null || current.state.attempt !== asked.state.attempt) return;
      const command = cancelCommand(current.state, heard);
      if (command === null) return;
      try {
        await this.recorder.record(current, command);
        return;
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
      current = await loadCall(this.desk.read, asked.row.tenant, asked.row.tool_call_id);
    }
  }
}
