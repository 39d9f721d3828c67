import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed, type Write } from '../../storage/unit.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { callFromRow, loadApproval, type LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import type { Meaning } from '../core/callback-reading.js';
import { stepFor, type Evidence, type Outcome, type Step } from '../core/late-evidence.js';
import { followOutcome } from '../executor/outcome-opening.js';
import { handoffPacket } from './handoff-packet.js';

type LateRow = TableRow<'late_results'>;
type Waiting = Evidence & { readonly row: LateRow };

const TRIES_MAX = 20;

/** Applies evidence that is on record to the call it is about: each piece once, and the unit that applies it says so. */
@Injectable()
export class LateApplication {
  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
  ) {}

  /** True when nothing waits any more; false when an attempt on the wire has to end first. */
  async apply(toolCallId: string): Promise<boolean> {
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const row = await this.desk.read.callAnywhere(toolCallId);
      const waiting = await this.desk.read.waitingLateResults(toolCallId);
      if (row === null || waiting.length === 0) return true;
      const call = await callFromRow(this.desk.read, row);
      const evidence = await Promise.all(waiting.map((late) => this.read(row.tenant, late)));
      // What decides goes first, so that what only accompanies it is judged against the end.
      const next = evidence.find(({ meaning }) => meaning === 'happened' || meaning === 'failed') ?? evidence[0];
      if (next === undefined) return true;
      const beside = evidence.filter((other) => other !== next);
      const step = stepFor(call.state, next, beside, { now: this.desk.now(), digest: jsonDigest });
      if (step.step === 'wait') return false;
      try {
        await this.desk.commit(await this.unitFor(call, step, next, evidence));
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
    return false;
  }

  private async unitFor(
    call: LoadedCall,
    step: Exclude<Step, { readonly step: 'wait' }>,
    next: Waiting,
    evidence: readonly Waiting[],
  ): Promise<UnitDraft> {
    const draft = this.desk.beginAbout(call.row, { lane: 'settle', causeKind: 'event' });
    draft.guard(this.desk.ownerGuard());
    const inUnit = new CallInUnit(draft, call);
    switch (step.step) {
      case 'record':
        if (step.command !== null) inUnit.do(step.command);
        draft.write(became(next.row, step.outcome));
        break;
      case 'withhold':
        await this.withhold(draft, call, inUnit);
        inUnit.do(step.command);
        draft.write(became(next.row, 'contradicting'));
        break;
      case 'hand_off':
        await this.handOff(call, inUnit, step.evidenceRefs);
        for (const { row, eventId } of evidence) {
          if (step.evidenceRefs.includes(eventId)) draft.write(became(row, 'contradicting'));
        }
    }
    await followOutcome({ read: this.desk.read, gate: this.gate }, draft, call, inUnit);
    return draft;
  }

  /** A call that was to be tried again is not, whatever its approval says. */
  private async withhold(draft: UnitDraft, { row }: LoadedCall, call: CallInUnit): Promise<void> {
    const approval = row.approval_id === null ? null : await loadApproval(this.desk.read, row.tenant, row.approval_id);
    if (approval !== null && (approval.state.status === 'pending' || approval.state.status === 'granted')) {
      new ApprovalInUnit(draft, approval, call.refs).do({ kind: 'close', closing: { reason: 'superseded' } });
    }
    call.do({ kind: 'close', closing: { reason: 'contradicted' } });
  }

  /** Evidence that contradicts itself settles nothing: people are given all of it. */
  private async handOff(call: LoadedCall, inUnit: CallInUnit, evidenceRefs: readonly string[]): Promise<void> {
    const packet = await handoffPacket(this.desk.read, call);
    if (call.state.status === 'accepted') {
      inUnit.do({ kind: 'mark_unknown', unknown: { cause: 'unreadable_answer', lastError: 'contradicting evidence' } });
    }
    inUnit.do({
      kind: 'hand_off',
      handoff: { reason: 'contradiction', evidenceRefs },
      opened: { handoffId: this.desk.newId(ID_PREFIXES.handoff), packet },
    });
  }

  private async read(tenant: string, row: LateRow): Promise<Waiting> {
    const event = await this.desk.read.event(tenant, row.event_id);
    if (event === null) throw new Error('evidence without its event');
    const { callbackId, meaning, externalRequestId, evidence } = event.payload;
    return {
      row,
      callbackId: callbackId as string,
      eventId: row.event_id,
      meaning: meaning as Meaning,
      effect: ((evidence as JsonObject | null)?.['effect'] ?? null) as JsonValue,
      reference: (externalRequestId ?? null) as string | null,
    };
  }
}

function became(row: LateRow, state: Outcome): Write {
  return {
    op: 'set',
    table: 'late_results',
    where: { late_result_id: row.late_result_id, state: 'waiting' },
    set: { state },
    guard: 'late_result',
  };
}
