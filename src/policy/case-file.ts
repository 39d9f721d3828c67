import { Injectable } from '@nestjs/common';
import { argsDigest } from '../domain/digests/digests.js';
import type { Actor } from '../domain/events/envelope.js';
import type { EventPayload } from '../domain/events/catalogue.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { Store } from '../storage/store.js';
import type { LoadedCall } from '../storage/units/load.js';
import type { PolicyRequest } from './core/policy-types.js';

/** What was proposed and asked of the policy, unsealed for one use. */
export interface Papers {
  readonly args: JsonObject;
  readonly redacted: readonly string[];
  readonly target: JsonObject;
  readonly agentReason: string | null;
  readonly requesterSubjects: readonly string[];
  /** The policy request as it was first asked; approvals and time are the asker's to replace. */
  readonly request: PolicyRequest;
  readonly requester: Actor;
}

/** The sealed record does not say what was agreed to: nothing may run on it. */
export class RecordTampered extends Error {
  override readonly name = 'RecordTampered';
}

/**
 * Reads a call's papers from the sealed events. The digest of the arguments is computed again from the unsealed bytes
 * and compared with the one everybody agreed to, so a changed record can never change what runs.
 */
@Injectable()
export class CaseFile {
  constructor(private readonly store: Store) {}

  /** @throws RecordTampered when the record is missing, cannot be unsealed, or differs from its digest. */
  async open({ row, state }: LoadedCall): Promise<Papers> {
    const proposed = await this.read(row.tenant, row.proposed_event_id);
    const decided = await this.read(row.tenant, row.decided_event_id ?? '');
    const proposal = proposed.payload as unknown as EventPayload<'tool.call.proposed'>;
    if (argsDigest(proposal.arguments) !== state.argsDigest || proposal.argsDigest !== state.argsDigest) {
      throw new RecordTampered('the stored arguments differ from the digest that was agreed to');
    }
    const request = (decided.payload as unknown as EventPayload<'policy.decided'>).request;
    return {
      args: proposal.arguments,
      redacted: (proposal.redacted ?? []) as readonly string[],
      target: proposal.target,
      agentReason: proposal.reason ?? null,
      requesterSubjects: (proposal.requesterSubjects ?? []) as readonly string[],
      request: { ...(request as unknown as Omit<PolicyRequest, 'input'>), input: proposal.arguments },
      requester: proposed.envelope.actor,
    };
  }

  private async read(tenant: string, eventId: string) {
    const event = await this.store.read.event(tenant, eventId).catch(() => null);
    if (event === null) throw new RecordTampered('a record of the call cannot be read');
    return event;
  }
}
