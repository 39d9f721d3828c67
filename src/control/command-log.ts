import { Injectable } from '@nestjs/common';
import { jsonDigest } from '../domain/digests/digests.js';
import { CountersignError, type ErrorDetails } from '../domain/errors/countersign-error.js';
import { ERRORS, type ErrorCode } from '../domain/errors/error-codes.js';
import type { DomainEvent } from '../domain/events/catalogue.js';
import { ID_PREFIXES } from '../domain/ids/ids.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { principalKey, principalOf } from '../domain/principal.js';
import type { Caller } from '../identity/caller.js';
import { GuardFailed } from '../storage/unit.js';
import { UnitDesk } from '../storage/units/unit-desk.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';

/** What the issuer of a command gets: where to ask what became of it. */
export interface Acknowledged {
  readonly commandId: string;
}

/** A control command as it was asked for. */
export interface Asked {
  readonly type: string;
  readonly target: JsonObject;
  /** Everything else that makes two commands the same. */
  readonly details: JsonObject;
  /** The client's id; null lets the server name it. */
  readonly commandId: string | null;
}

/** What the command is about, known once its target has been read. */
export interface About {
  readonly correlationId: string;
  readonly runId?: string;
  readonly sessionId?: string;
}

const TRIES_MAX = 3;

/**
 * Not facts about the command: the store or the race failed, or nothing may be sent just now. Whoever is told to ask again
 * may do so with the same id.
 */
const NOT_RECORDED: readonly ErrorCode[] = [
  'overloaded',
  'store_unavailable',
  'durability_failed',
  'instance_taken_over',
  'contended',
  'shutting_down',
  'engine_error',
  'precondition_unavailable',
  'paused',
  'capability_paused',
  'capability_held',
  'store_held',
  'lease_key_too_young',
  'internal',
];

/** Thrown by a command that finds its work already done: it is acknowledged and nothing is recorded. */
export class AlreadyDone extends Error {
  override readonly name = 'AlreadyDone';

  /** The command that did it; null when it cannot be told. */
  constructor(readonly commandId: string | null) {
    super('already done');
  }
}

/**
 * The one way in for control commands: each is admitted, refused with a reason, or answered as the duplicate it is.
 * The command, and what it decides, are one unit. A refusal of an authenticated caller is recorded too.
 */
@Injectable()
export class CommandLog {
  constructor(private readonly desk: UnitDesk) {}

  /**
   * Runs `decideInto` on a draft that begins with `control.accepted`, commits it, and decides again (at most three
   * times) when a guard fails.
   *
   * @throws CountersignError what `decideInto` refused with, and the `commandId`; `command_id_conflict`; `contended`.
   */
  async carryOut(
    caller: Caller,
    asked: Asked,
    decideInto: (start: (about: About) => UnitDraft, now: string) => Promise<UnitDraft>,
  ): Promise<Acknowledged> {
    const commandId = asked.commandId ?? this.desk.newId(ID_PREFIXES.command);
    const requestDigest = jsonDigest({ type: asked.type, target: asked.target, ...asked.details });
    let failed = '';
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const earlier = await this.earlier(caller, commandId, requestDigest);
      if (earlier !== null) return earlier;
      const now = this.desk.now();
      const fact = {
        type: asked.type,
        target: asked.target,
        issuer: caller.actor as unknown as JsonObject,
        receivedAt: now,
        requestDigest,
      };
      const accepted: DomainEvent = { type: 'control.accepted', payload: fact };
      try {
        const draft = await decideInto((about) => this.begin(caller, commandId, about, accepted, null), now);
        await this.desk.commit(draft);
        return { commandId };
      } catch (error) {
        if (error instanceof GuardFailed) {
          failed = error.guard;
          continue;
        }
        if (error instanceof AlreadyDone) return { commandId: error.commandId ?? commandId };
        if (!(error instanceof CountersignError) || NOT_RECORDED.includes(error.code)) throw error;
        await this.reject(caller, commandId, fact, error);
        // The refusal as it was, for whoever has to follow it up.
        const refused = new CountersignError(error.code, error.message, { ...error.details, commandId });
        throw Object.assign(refused, { cause: error });
      }
    }
    throw guardError(failed);
  }

  /**
   * A refusal of something that is no command by itself, on record like one. Answers the error with the `commandId`, or as
   * it was where nothing is recorded of such.
   */
  async recordRefusal(caller: Caller, asked: Asked, error: CountersignError): Promise<CountersignError> {
    if (NOT_RECORDED.includes(error.code)) return error;
    const commandId = asked.commandId ?? this.desk.newId(ID_PREFIXES.command);
    const { type, target } = asked;
    const issuer = caller.actor as unknown as JsonObject;
    const requestDigest = jsonDigest({ type, target, ...asked.details });
    await this.reject(caller, commandId, { type, target, issuer, receivedAt: this.desk.now(), requestDigest }, error);
    return new CountersignError(error.code, error.message, { ...error.details, commandId });
  }

  /** The answer the same command got before; null when it is new. */
  private async earlier(caller: Caller, commandId: string, requestDigest: string): Promise<Acknowledged | null> {
    const row = await this.desk.read.command(caller.tenant, commandId);
    if (row === null) return null;
    if (row.request_digest !== requestDigest || row.issuer !== issuerOf(caller)) {
      throw new CountersignError('command_id_conflict', 'this commandId belongs to another command');
    }
    if (row.status === 'accepted') return { commandId };
    const event = await this.desk.read.event(caller.tenant, row.event_id);
    const code = row.code as ErrorCode;
    const message = typeof event?.payload['message'] === 'string' ? event.payload['message'] : ERRORS[code].mend;
    const details = (event?.payload['details'] ?? {}) as ErrorDetails;
    throw new CountersignError(code, message, { ...details, commandId });
  }

  private begin(caller: Caller, commandId: string, about: About, event: DomainEvent, code: string | null): UnitDraft {
    const payload = event.payload as {
      readonly type: string;
      readonly receivedAt: string;
      readonly requestDigest: string;
    };
    const draft = this.desk.begin({
      tenant: caller.tenant,
      lane: 'govern',
      actor: caller.actor,
      occurredAt: payload.receivedAt,
      causationId: null,
      causeKind: 'external',
      commandId,
      ...about,
    });
    // Command ids are the clients' own words, so the stream's name holds the tenant.
    const [eventId] = draft.append({ kind: 'command', id: `${caller.tenant}/${commandId}` }, 0, [event], {});
    return draft.write({
      op: 'insert',
      table: 'control_commands',
      takenGuard: 'command',
      row: {
        tenant: caller.tenant,
        command_id: commandId,
        type: payload.type,
        issuer: issuerOf(caller),
        request_digest: payload.requestDigest,
        status: code === null ? 'accepted' : 'rejected',
        code,
        event_id: eventId as string,
        received_at: payload.receivedAt,
      },
    });
  }

  private async reject(
    caller: Caller,
    commandId: string,
    fact: { type: string; target: JsonObject; issuer: JsonObject; receivedAt: string; requestDigest: string },
    error: CountersignError,
  ): Promise<void> {
    const details = JSON.parse(JSON.stringify(error.details)) as JsonObject;
    const event: DomainEvent = {
      type: 'control.rejected',
      payload: { ...fact, code: error.code, message: error.message, details },
    };
    const draft = this.begin(caller, commandId, { correlationId: commandId }, event, error.code);
    try {
      await this.desk.commit(draft);
    } catch (failure) {
      // The same command raced with itself and the other copy recorded its answer.
      if (!(failure instanceof GuardFailed)) throw failure;
    }
  }
}

/** What it means for the issuer when a guard fails however often one looks again. */
function guardError(guard: string): CountersignError {
  if (guard === 'capability')
    return new CountersignError('capability_held', 'the capability is held', { retryAfterSeconds: 10 });
  if (guard === 'run_open') return new CountersignError('run_already_ended', 'the run has ended or is stopping');
  if (guard === 'open_intent')
    return new CountersignError('outstanding_identical_intent', 'an identical call is not settled yet');
  return new CountersignError('contended', 'other writers changed the same records three times in a row');
}

/** An agent is not the person it acts for: neither gets the other's answers. */
const issuerOf = (caller: Caller): string => principalKey(principalOf(caller.actor));
