import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { argsDigest } from '../domain/digests/digests.js';
import { foldApproval } from '../domain/approval/approval.evolve.js';
import type { ApprovalState } from '../domain/approval/approval.state.js';
import type { DomainEvent, EventPayload, EventType } from '../domain/events/catalogue.js';
import { textsAt } from '../domain/redaction/redact.js';
import { domainEventOf } from '../domain/events/domain-event.js';
import type { CommittedEvent, StreamRef } from '../domain/events/envelope.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { foldToolCall } from '../domain/tool-call/tool-call.evolve.js';
import type { ToolCallState } from '../domain/tool-call/tool-call.state.js';
import { Store } from '../storage/store.js';
import { GuardFailed } from '../storage/unit.js';
import type { LoadedApproval, LoadedCall } from '../storage/units/load.js';
import type { PolicyRequest } from './core/policy-types.js';

/** What was proposed and asked of the policy, unsealed for one use. */
export interface Papers {
  readonly args: JsonObject;
  readonly redacted: readonly string[];
  /** The texts that stand at the redacted places. */
  readonly masked: readonly string[];
  readonly target: JsonObject;
  readonly agentReason: string | null;
  readonly requesterSubjects: readonly string[];
  /** The policy request as it was last asked; approvals, emergency and time are the asker's to say. */
  readonly request: PolicyRequest;
}

/** The sealed record does not say what was agreed to: nothing may run on it. */
export class RecordTampered extends Error {
  override readonly name = 'RecordTampered';
}

/**
 * Reads a call's papers from the sealed events, and holds rows against them. A payload is sealed together with its place,
 * so whoever changes the database without the key can change what rows say, but not what was agreed to: a row that
 * differs from its events never runs.
 */
@Injectable()
export class CaseFile {
  constructor(private readonly store: Store) {}

  /** @throws RecordTampered when the record is missing, cannot be unsealed, or is not of this call. */
  async open({ row, state }: LoadedCall): Promise<Papers> {
    const proposed = await this.read(row, row.proposed_event_id, 'tool.call.proposed');
    const decided = await this.read(row, row.decided_event_id ?? '', 'policy.decided');
    const proposal = proposed.payload as unknown as EventPayload<'tool.call.proposed'>;
    const agreed =
      argsDigest(proposal.arguments) === state.argsDigest &&
      proposal.argsDigest === state.argsDigest &&
      proposal.downstreamKey === state.downstreamKey &&
      proposal.manifestDigest === state.manifestDigest;
    if (!agreed) throw new RecordTampered('the stored call differs from what was proposed');
    const { request } = decided.payload as unknown as EventPayload<'policy.decided'>;
    // An emergency lets one attempt pass: that an earlier one was one says nothing about the next.
    const { breakGlass: _, ...asked } = request as unknown as Omit<PolicyRequest, 'input'>;
    return {
      args: proposal.arguments,
      redacted: (proposal.redacted ?? []) as readonly string[],
      masked: textsAt(proposal.arguments, (proposal.redacted ?? []) as readonly string[]),
      target: proposal.target,
      agentReason: proposal.reason ?? null,
      requesterSubjects: (proposal.requesterSubjects ?? []) as readonly string[],
      request: { ...asked, input: proposal.arguments },
    };
  }

  /**
   * Before sending: the rows say what folding the sealed events says, and the approval is this call's own consent.
   *
   * @throws RecordTampered; GuardFailed when a record was moved while it was being read
   */
  async verify(call: LoadedCall, approval: LoadedApproval | null): Promise<void> {
    const { tenant, tool_call_id: toolCallId } = call.row;
    const folded = foldToolCall(null, await this.stream(tenant, { kind: 'call', id: toolCallId }));
    if (!isSame(folded, call.state)) {
      const now = await this.store.read.toolCall(tenant, toolCallId);
      throw differs('the row of the call differs from its events', call.row, now);
    }
    if (approval === null) return;
    const { row, state } = approval;
    const asked = foldApproval(null, await this.stream(tenant, { kind: 'approval', id: row.approval_id }));
    if (!isSame(asked, state)) {
      const now = await this.store.read.approval(tenant, row.approval_id);
      throw differs('the row of the approval differs from its events', row, now);
    }
    const own =
      row.tool_call_id === toolCallId &&
      state.attempt === call.state.attempt &&
      state.argsDigest === call.state.argsDigest &&
      state.manifestDigest === call.state.manifestDigest;
    if (!own) throw new RecordTampered('the approval is not of this call');
  }

  private async stream(tenant: string, stream: StreamRef): Promise<readonly DomainEvent[]> {
    const events = (await this.store.read.streamEvents(tenant, stream).catch(unreadable)) ?? [];
    return events.map(({ envelope, payload }) => domainEventOf(envelope.eventType, payload));
  }

  private async read(row: LoadedCall['row'], eventId: string, type: EventType): Promise<CommittedEvent> {
    const event = await this.store.read.event(row.tenant, eventId).catch(unreadable);
    const isOwn = event?.envelope.streamId === row.tool_call_id && event.envelope.eventType === type;
    if (event === null || !isOwn) throw new RecordTampered('a record of the call cannot be read');
    return event;
  }
}

/** Row and stream are two reads: where the row has moved on since, they differ for no worse reason than that. */
function differs(message: string, loaded: { version: number }, now: { version: number } | null): Error {
  return now !== null && now.version !== loaded.version ? new GuardFailed('record') : new RecordTampered(message);
}

function isSame(folded: ToolCallState | ApprovalState | null, row: ToolCallState | ApprovalState): boolean {
  return folded !== null && isDeepStrictEqual(folded, row);
}

/** A database that cannot be read now says nothing about the record; anything else does. */
function unreadable(error: unknown): null {
  const code: unknown = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string' && code.startsWith('SQLITE_')) throw error;
  return null;
}
