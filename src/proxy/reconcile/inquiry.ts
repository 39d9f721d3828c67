import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import type { Capability } from '../../capabilities/manifest.js';
import type { ToolCallIn } from '../../domain/tool-call/tool-call.state.js';
import { RecordTampered } from '../../policy/case-file.js';
import { Judge } from '../../policy/judge.js';
import type { LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { ProbeLeases } from '../../policy/leases/probe-leases.js';
import { HttpConnector, type LookedUp, type Use } from '../connectors/http.connector.js';
import { mayReplay } from '../core/reconciliation-plan.js';

export type Reconciling = LoadedCall & { readonly state: ToolCallIn<'reconciling'> };

const LOOK_UP_TIMEOUT_MS = 10_000;

/** Asks the tool about a call of unknown result: with the manifest's read-only probe, or where it says so by replay. */
@Injectable()
export class Inquiry {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly judge: Judge,
    private readonly connector: HttpConnector,
    private readonly leases: ProbeLeases,
  ) {}

  /** Null when the question cannot or may not be asked; `later` when nothing may be sent just now. */
  async ask(call: Reconciling, capability: Capability, byReplay: boolean): Promise<LookedUp | 'later' | null> {
    if (capability.manifest.probe !== null) return this.lookUp(call, capability);
    const use = await this.useOf(call);
    if (use === null || !byReplay || !(await this.mayReplay(call, capability))) return null;
    return (await this.isHeldUp(call)) ? 'later' : this.connector.replay(capability, use);
  }

  /** Asks with the read-only probe; null when there is none, or when the record of the call cannot be trusted. */
  async lookUp(call: LoadedCall, capability: Capability): Promise<LookedUp | null> {
    const { probe } = capability.manifest;
    const use = probe === null ? null : await this.useOf(call);
    if (probe === null || use === null) return null;
    return this.leases.around(call, capability, (lease) =>
      this.connector.lookUp(capability, probe, lease === undefined ? use : { ...use, lease }),
    );
  }

  private async useOf(call: LoadedCall): Promise<Use | null> {
    try {
      const { args, masked } = await this.judge.open(call);
      return {
        args,
        masked,
        downstreamKey: call.state.downstreamKey,
        externalRequestId: call.state.externalRequestId,
        deadline: this.desk.clock.monotonic() + LOOK_UP_TIMEOUT_MS,
      };
    } catch (error) {
      if (error instanceof RecordTampered) return null;
      throw error;
    }
  }

  /** The identical request may turn out to be the first that arrives, so whatever forbids sending for good forbids this too. */
  private async mayReplay({ row, state }: Reconciling, { manifest }: Capability): Promise<boolean> {
    // What a restored store may never have sent would be sent by asking in this way.
    if (state.cause === 'restored') return false;
    const { read } = this.desk;
    const [first, approval, run] = await Promise.all([
      read.attempt(row.tenant, row.tool_call_id, 1),
      row.approval_id === null ? null : read.approval(row.tenant, row.approval_id),
      read.run(row.tenant, row.run_id),
    ]);
    // Of a call that somebody wants stopped, what may never have arrived must not arrive by asking.
    if (state.cancellationRequested || run === null || run.status === 'stopping' || run.status === 'stopped')
      return false;
    return mayReplay({
      nowMs: this.desk.clock.now(),
      firstUsedAt: first?.dispatch_intent_at ?? row.created_at,
      keyRetentionMs: manifest.idempotency.keyRetentionMs,
      sendBefore: [state.executeBefore, approval?.execute_by ?? null],
    });
  }

  /** A pause, a hold of the capability or of the store: they end, and the question keeps until then. */
  private async isHeldUp({ row, state }: Reconciling): Promise<boolean> {
    const definition = await this.desk.read.capability(state.capability);
    return definition?.state !== 'active' || this.gate.pauseFor(row.tenant, state.principal, state.capability) !== null;
  }
}
