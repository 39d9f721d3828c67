import { Injectable } from '@nestjs/common';
import type { EventPayload } from '../../domain/events/catalogue.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { PayloadKeyGone } from '../../storage/readers/opened-keys.js';
import type { ReadDecision } from '../../storage/readers/policy-records.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { PolicyRequest } from '../core/policy-types.js';
import type { RecordedDecision } from '../core/replay.js';

/** A decision as it was made: what it could read, and what it said. */
export interface DecisionAsMade {
  readonly tenant: string;
  readonly toolCallId: string;
  readonly policyDecisionId: string;
  readonly decidedAt: string;
  readonly recorded: RecordedDecision;
  readonly request: PolicyRequest;
}

/** Puts a recorded decision and the proposal it was about together again: the input is kept in the proposal only. */
@Injectable()
export class RecordedDecisions {
  constructor(private readonly desk: UnitDesk) {}

  /** Null: what it was about has been erased. */
  async asMade({ envelope, payload }: ReadDecision): Promise<DecisionAsMade | null> {
    if (payload === null) return null;
    const input = await this.inputOf(envelope.tenant, envelope.streamId);
    if (input === null) return null;
    const recorded = payload as unknown as RecordedDecision;
    return {
      tenant: envelope.tenant,
      toolCallId: envelope.streamId,
      policyDecisionId: envelope.policyDecisionId ?? '',
      decidedAt: envelope.recordedAt,
      recorded,
      request: requestOf(recorded, input),
    };
  }

  /** The effective arguments as they were proposed; null when they are erased or there is no such call. */
  async inputOf(tenant: string, toolCallId: string): Promise<JsonObject | null> {
    const row = await this.desk.read.toolCall(tenant, toolCallId);
    if (row === null) return null;
    try {
      const event = await this.desk.read.event(tenant, row.proposed_event_id);
      return (event?.payload as EventPayload<'tool.call.proposed'> | undefined)?.arguments ?? null;
    } catch (error) {
      if (error instanceof PayloadKeyGone) return null;
      throw error;
    }
  }
}

/** Whatever facts a decision was made with stand in its record; only the input is put back. */
export function requestOf(recorded: RecordedDecision, input: JsonObject): PolicyRequest {
  return { ...(recorded.request as unknown as Omit<PolicyRequest, 'input'>), input };
}
