import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { Actor } from '../../domain/events/envelope.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { UNMATCHED_COUNTER } from '../../domain/tool-call/late-evidence.js';
import { Judge } from '../../policy/judge.js';
import type { Told } from '../../proxy/core/callback-reading.js';
import type { Scrubber } from '../../proxy/core/scrub.js';
import { Credentials } from '../../secrets/credentials.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed, type Write } from '../../storage/unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { callFromRow, type LoadedCall } from '../../storage/units/load.js';
import { INSTALLATION, UnitDesk } from '../../storage/units/unit-desk.js';
import { LateEvidenceMatcher } from './late-evidence.matcher.js';

export interface Received {
  readonly source: 'callback' | 'statement';
  readonly capability: string;
  /** The sender's own id: the same id is the same evidence. */
  readonly id: string;
  readonly bodyDigest: string;
  readonly told: Told;
  readonly tenant: string | null;
  readonly toolCallId: string | null;
  readonly actor: Actor;
}

/** `unmatched`: kept, and matched when a call turns out to be meant. */
export interface Receipt {
  readonly id: string;
  readonly status: 'recorded' | 'unmatched' | 'duplicate';
  readonly toolCallId: string | null;
}

/** Callbacks meet the answer of the attempt and one another, so that a race or two is usual. */
const TRIES_MAX = 10;

/**
 * Records evidence from outside, once for each sender's id; answers when it is durable. Whether anything follows from it
 * is decided by whoever applies it.
 */
@Injectable()
export class LateEvidenceRecorder {
  constructor(
    private readonly desk: UnitDesk,
    private readonly matcher: LateEvidenceMatcher,
    private readonly judge: Judge,
    private readonly credentials: Credentials,
    private readonly settings: Settings,
  ) {}

  /** @throws CountersignError `overloaded` when too much is kept for no call, `contended`. */
  async record(received: Received): Promise<Receipt> {
    const lateResultId = lateResultIdOf(received);
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const earlier = await this.desk.read.lateResult(lateResultId);
      if (earlier !== null) return this.repeated(earlier, received);
      const { told, ...named } = received;
      const row = await this.matcher.find({ ...named, key: told.key, reference: told.reference });
      try {
        return row === null ? await this.keep(received) : await this.attach(received, row);
      } catch (error) {
        if (!(error instanceof GuardFailed)) throw error;
        if (error.guard.startsWith('counter:')) {
          throw new CountersignError('overloaded', 'too much evidence is kept for which no call is known');
        }
      }
    }
    throw new CountersignError('contended', 'the call was changed by others again and again');
  }

  private async attach(received: Received, row: TableRow<'tool_calls'>): Promise<Receipt> {
    const call = await callFromRow(this.desk.read, row);
    const scrub = await this.scrubberFor(call);
    const told = { ...received.told, reference: recordable(received.told.reference, scrub) };
    const { draft, now } = this.begin(received, call);
    const next = new CallInUnit(draft, call).do({
      kind: 'record_callback',
      callback: {
        callbackId: received.id,
        source: received.source,
        meaning: told.meaning,
        externalRequestId: told.reference,
        evidence: evidenceOf(received, scrub),
      },
    });
    // A reference that was missing may be what a look-up needs.
    const isNew = call.state.externalRequestId === null && told.reference !== null;
    if (isNew && call.state.status === 'reconciling') next.workAt({ nextAt: now });
    const eventId = next.after.facts.last_event_id;
    draft.write(lateRow({ ...received, told }, { state: 'waiting', call, eventId, now }));
    await this.desk.commit(draft);
    return { id: received.id, status: 'recorded', toolCallId: row.tool_call_id };
  }

  private async keep(received: Received): Promise<Receipt> {
    const { scrub } = this.credentials;
    const { reference, key } = received.told;
    const told = { ...received.told, reference: recordable(reference, scrub), key: recordable(key, scrub) };
    const { draft, now } = this.begin(received, null);
    const payload = {
      callbackId: received.id,
      source: received.source,
      capability: received.capability,
      meaning: told.meaning,
      externalRequestId: told.reference,
      downstreamKey: told.key,
      evidence: evidenceOf(received, scrub),
    };
    const stream = { kind: 'evidence', id: lateResultIdOf(received) } as const;
    const [eventId] = draft.append(stream, 0, [{ type: 'evidence.received', payload }], {});
    draft.write(lateRow({ ...received, told }, { state: 'unmatched', call: null, eventId: eventId as string, now }));
    draft.count({
      tenant: INSTALLATION,
      key: UNMATCHED_COUNTER,
      add: 1,
      max: this.settings.callbacks.unmatchedMax,
    });
    await this.desk.commit(draft);
    return { id: received.id, status: 'unmatched', toolCallId: null };
  }

  /** The first repetition is recorded, further ones are only answered: nobody can fill the record by repeating himself. */
  private async repeated(earlier: TableRow<'late_results'>, received: Received): Promise<Receipt> {
    const reason = earlier.body_digest === received.bodyDigest ? 'duplicate' : 'same_id_other_body';
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const late = await this.desk.read.lateResult(earlier.late_result_id);
      const row =
        late === null || late.tool_call_id === null ? null : await this.desk.read.callAnywhere(late.tool_call_id);
      if (late === null || late.repeated === 1 || row === null) break;
      try {
        await this.noteRepetition(received, row, { lateResultId: late.late_result_id, reason });
        break;
      } catch (error) {
        // Somebody else moved the call or recorded a repetition; the evidence itself is on record all the same.
        if (!(error instanceof GuardFailed)) throw error;
      }
    }
    return { id: received.id, status: 'duplicate', toolCallId: earlier.tool_call_id };
  }

  private async noteRepetition(
    received: Received,
    row: TableRow<'tool_calls'>,
    { lateResultId, reason }: { readonly lateResultId: string; readonly reason: string },
  ): Promise<void> {
    const call = await callFromRow(this.desk.read, row);
    const { draft } = this.begin(received, call);
    new CallInUnit(draft, call).do({ kind: 'ignore_callback', ignored: { callbackId: received.id, reason } });
    draft.write({
      op: 'set',
      table: 'late_results',
      where: { late_result_id: lateResultId, repeated: 0 },
      set: { repeated: 1 },
      guard: 'late_result',
    });
    await this.desk.commit(draft);
  }

  private begin({ tenant, actor, capability }: Received, call: LoadedCall | null) {
    const now = this.desk.now();
    const about =
      call === null
        ? { tenant: tenant ?? INSTALLATION, correlationId: capability }
        : {
            tenant: call.row.tenant,
            correlationId: call.row.correlation_id,
            runId: call.row.run_id,
            sessionId: call.row.session_id,
          };
    const draft = this.desk.begin({
      ...about,
      lane: 'govern',
      actor,
      occurredAt: now,
      causationId: null,
      causeKind: 'external',
    });
    return { draft, now };
  }

  /** Of secrets and of the redacted arguments of the call. */
  private async scrubberFor(call: LoadedCall): Promise<Scrubber> {
    const masked = await this.maskedOf(call);
    return masked.length === 0 ? this.credentials.scrub : this.credentials.scrubWith(masked);
  }

  /** A record that cannot be opened hides nothing that could be named; what comes for it is still kept. */
  private async maskedOf(call: LoadedCall): Promise<readonly string[]> {
    return this.judge.open(call).then(
      ({ masked }) => masked,
      () => [],
    );
  }
}

const evidenceOf = ({ told, bodyDigest }: Received, scrub: Scrubber): JsonObject => ({
  bodyDigest,
  effect: scrub.json(told.effect),
});

/** A name with something scrubbed out would name something else, so it names nothing. */
const recordable = (name: string | null, scrub: Scrubber): string | null =>
  name === null || scrub(name) !== name ? null : name;

function lateResultIdOf({ source, capability, id, tenant }: Received): string {
  return jsonDigest(['countersign/late-evidence', source, capability, tenant, id]);
}

function lateRow(
  received: Received,
  where: {
    readonly state: 'unmatched' | 'waiting';
    readonly call: LoadedCall | null;
    readonly eventId: string;
    readonly now: string;
  },
): Write {
  const { state, call, eventId, now } = where;
  return {
    op: 'insert',
    table: 'late_results',
    takenGuard: 'late_result',
    row: {
      late_result_id: lateResultIdOf(received),
      tenant: call?.row.tenant ?? received.tenant ?? INSTALLATION,
      source: received.source,
      capability: received.capability,
      reference: received.told.reference,
      tool_call_id: call?.row.tool_call_id ?? null,
      state,
      body_digest: received.bodyDigest,
      repeated: 0,
      event_id: eventId,
      received_at: now,
    },
  };
}
