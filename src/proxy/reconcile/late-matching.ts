import { Injectable } from '@nestjs/common';
import type { JsonObject, JsonValue } from '../../domain/json/json-value.js';
import { UNMATCHED_COUNTER } from '../../domain/tool-call/late-evidence.js';
import { Judge } from '../../policy/judge.js';
import { Credentials } from '../../secrets/credentials.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { GuardFailed } from '../../storage/unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { callFromRow, type LoadedCall } from '../../storage/units/load.js';
import { INSTALLATION, UnitDesk } from '../../storage/units/unit-desk.js';

const BATCH = 100;
const TRIES_MAX = 10;

/** Gives evidence that came before its call was known to the call, once the tool's reference is known. */
@Injectable()
export class LateMatching {
  constructor(
    private readonly desk: UnitDesk,
    private readonly judge: Judge,
    private readonly credentials: Credentials,
  ) {}

  /** Matches what can be matched now, whatever it is about: once, when a process begins. */
  async run(): Promise<void> {
    for (;;) {
      const found = await this.desk.read.matchableLateResults(BATCH);
      const matched = await this.matchAll(found);
      if (found.length < BATCH || matched === 0) return;
    }
  }

  /** Matches what names this reference. */
  async about(capability: string, reference: string): Promise<void> {
    await this.matchAll(await this.desk.read.unmatchedLateResults(capability, reference, BATCH));
  }

  /** The same for the reference that a call has. */
  async aboutCall(toolCallId: string): Promise<void> {
    const row = await this.desk.read.callAnywhere(toolCallId);
    if (row !== null && row.external_request_id !== null) await this.about(row.capability, row.external_request_id);
  }

  /** How many found their call. */
  private async matchAll(found: readonly TableRow<'late_results'>[]): Promise<number> {
    let matched = 0;
    for (const late of found) {
      for (let tries = 0; tries < TRIES_MAX; tries += 1) {
        try {
          if (await this.match(late)) matched += 1;
          break;
        } catch (error) {
          if (!(error instanceof GuardFailed)) throw error; // somebody else moved the call: look again
        }
      }
    }
    return matched;
  }

  private async match(late: TableRow<'late_results'>): Promise<boolean> {
    const { read } = this.desk;
    const rows = await read.callsByReference(late.capability, late.reference ?? '');
    const [row] = rows.filter(({ tenant }) => late.tenant === INSTALLATION || late.tenant === tenant);
    const event = await read.event(late.tenant, late.event_id);
    if (row === undefined || rows.length > 1 || event === null) return false;
    const { callbackId, source, meaning, externalRequestId, downstreamKey, evidence } = event.payload;
    // Evidence that names another key than the call's is about something else, whatever its reference says.
    if ((downstreamKey ?? null) !== null && downstreamKey !== row.downstream_key) return false;
    const call = await callFromRow(read, row);
    const draft = this.desk.beginAbout(row, { lane: 'settle', causeKind: 'event' }).guard(this.desk.ownerGuard());
    const next = new CallInUnit(draft, call).do({
      kind: 'record_callback',
      callback: {
        callbackId: callbackId as string,
        source: source as string,
        meaning: meaning as string,
        externalRequestId: (externalRequestId ?? null) as string | null,
        evidence: await this.scrubbed(call, evidence as JsonObject, late.event_id),
      },
    });
    draft.write({
      op: 'set',
      table: 'late_results',
      where: { late_result_id: late.late_result_id, state: 'unmatched' },
      set: {
        state: 'waiting',
        tenant: row.tenant,
        tool_call_id: row.tool_call_id,
        event_id: next.after.facts.last_event_id,
      },
      guard: 'late_result',
    });
    draft.count({ tenant: INSTALLATION, key: UNMATCHED_COUNTER, add: -1, max: null });
    await this.desk.commit(draft);
    return true;
  }

  /** Now that the call is known, so are the arguments that nobody may see. */
  private async scrubbed(call: LoadedCall, evidence: JsonObject, receivedAs: string): Promise<JsonObject> {
    const masked = await this.judge.open(call).then(
      (papers) => papers.masked,
      () => [],
    );
    const scrub = masked.length === 0 ? this.credentials.scrub : this.credentials.scrubWith(masked);
    return { ...evidence, effect: scrub.json((evidence['effect'] ?? null) as JsonValue), receivedAs };
  }
}
