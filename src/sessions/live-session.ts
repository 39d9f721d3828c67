import { CountersignError } from '../domain/errors/countersign-error.js';
import type { Producer } from '../domain/events/event-definition.js';
import { timeAt } from '../domain/events/instant.js';
import { owedAnswer, owedAnswers } from '../domain/session/call-answers.js';
import { closersOf, cutsOf } from '../domain/session/closers.js';
import { appendToCore, type AppendContext, type NewSessionEvent } from '../domain/session/session.append.js';
import { hasRecordedEnd, type SessionCore } from '../domain/session/session-core.js';
import { evolveCore } from '../domain/session/session-core.evolve.js';
import type { SessionKey } from '../domain/session/session-key.js';
import type {
  MirroredEvent,
  SessionEvent,
  SessionFact,
  SessionHeader,
  SessionRow,
} from '../domain/session/session-row.js';
import { isOpenTurn } from '../domain/session/turn.state.js';
import type {
  AppendAnswer,
  AppendOptions,
  LiveEnvironment,
  LiveRules,
  OpenedSession,
  SessionMedium,
  SessionStatus,
} from './live-session.parts.js';
import { isRepeat } from './repeated-append.js';
import { RowMemory, rowOf } from './row-memory.js';
import type { FoldedState } from './session-fold.js';
import { durabilityFailure } from './session-media.js';
import type { GovernedEvent } from './session-record.js';
import { WriteBehind } from './write-behind.js';

/**
 * One open session of this process: appends become facts in memory at once and are written behind. Everybody outside reads
 * what is durable; observers in this process see what is in memory.
 */
export class LiveSession {
  readonly header: SessionHeader;
  readonly key: SessionKey;
  readonly loadSource: OpenedSession['loadSource'];
  private readonly core: SessionCore;
  private readonly context: Omit<AppendContext, 'producer' | 'at'>;
  private textMs = Number.NaN;
  private timeText = '';
  private readonly memory: RowMemory;
  private readonly writes: WriteBehind;
  private readonly observers = new Set<(facts: readonly SessionFact[]) => void>();
  private readonly readers = new Set<(durableSeq: number) => void>();
  private epoch: number;
  /** A terminal save failed, and so did its mark: resuming is refused here until one of them has been made good. */
  notResumable: boolean;
  /** Milliseconds since 1970. */
  usedAt: number;

  constructor(
    opened: OpenedSession,
    private readonly medium: SessionMedium,
    private readonly rules: LiveRules,
    private readonly environment: LiveEnvironment,
  ) {
    this.header = opened.header;
    this.core = opened.core;
    this.key = opened.core.key;
    this.loadSource = opened.loadSource;
    this.notResumable = opened.notResumable;
    this.epoch = opened.core.ownerEpoch;
    this.usedAt = environment.clock.now();
    const { eventBytesMax, holdsSecret } = rules;
    this.context = { nextEventId: () => environment.ids.next('evt'), eventBytesMax, holdsSecret };
    this.memory = new RowMemory(rules.fold, opened.folded, rules.rowsKept);
    this.writes = new WriteBehind(this.ports(), rules.writeBehind, opened.log);
    this.writes.enqueue(opened.unwritten.map(rowOf), opened.unwritten.length * MIRROR_BYTES);
    for (const owed of owedAnswers(this.core)) this.say(owed);
  }

  /** A harness takes the session over: appends with an earlier epoch are refused from now on. */
  attach(ownerEpoch: number): void {
    if (ownerEpoch < this.epoch) throw stale();
    this.epoch = ownerEpoch;
    this.touch();
  }

  /**
   * Appends all of the events or none. Rejects with the code of the first refusal, `owner_epoch_stale`, `seq_conflict`,
   * `write_behind_saturated` or `persistence_closed`. The same append again (same `expectedSeq`, same content) is answered with
   * what the first one made.
   */
  async append(inputs: readonly NewSessionEvent[], options: AppendOptions): Promise<AppendAnswer> {
    this.touch();
    if (options.ownerEpoch !== null && options.ownerEpoch !== this.epoch) throw stale();
    const { expectedSeq } = options;
    if (expectedSeq !== undefined && expectedSeq !== this.core.headSeq) return this.repeated(inputs, expectedSeq);
    this.writes.mustAdmit();
    if (inputs.length > this.rules.batchEventsMax) {
      throw new CountersignError('payload_too_large', `one append has at most ${this.rules.batchEventsMax} events`);
    }
    if (this.writes.isSaturated(inputs.length, 0)) {
      throw new CountersignError('write_behind_saturated', 'too much waits for the disk already');
    }
    const events = this.take(inputs, options.producer, options.isGroup === true);
    this.answerListed(events);
    return this.answer(events);
  }

  /**
   * Repeats a governed event in the log, and tells the conversation when a call has ended. Calls come in order of position; an
   * event that is there already is passed over. Never refused for saturation. Throws `persistence_closed`.
   */
  mirror({ event, payloadCommitment }: GovernedEvent): void {
    const { position, envelope, payload } = event;
    if (this.core.events.has(envelope.eventId)) return;
    this.writes.mustAdmit();
    this.touch();
    const seq = this.core.headSeq + 1;
    const base = { kind: 'mirror', seq, eventId: envelope.eventId, position, envelope, payloadCommitment } as const;
    const fact: MirroredEvent = Object.freeze({ ...base, payload });
    evolveCore(this.core, fact);
    this.epoch = Math.max(this.epoch, this.core.ownerEpoch);
    this.commit([fact], MIRROR_BYTES);
    const call = envelope.toolCallId === undefined ? undefined : this.core.calls.get(envelope.toolCallId);
    const owed = call === undefined ? null : owedAnswer(this.core, call);
    if (owed !== null) this.say(owed);
  }

  /** Ends the open turn for whoever cannot do it any more. Nothing while it waits for what is decided or carried out elsewhere. */
  closeTurn(outcome: 'interrupted' | 'stopped'): readonly SessionEvent[] {
    this.writes.mustAdmit();
    this.touch();
    return this.take(closersOf(this.core, outcome), 'recovery', false, true);
  }

  /** Ends the open step for a harness that did not in time; the turn stays open for whoever goes on. */
  cutStep(): readonly SessionEvent[] {
    this.writes.mustAdmit();
    this.touch();
    return this.take(cutsOf(this.core), 'recovery', false, true);
  }

  /** Resolves with the `seq` up to which everything is durable. Rejects with `durability_failed` where the medium failed. */
  async flush(): Promise<number> {
    try {
      return await this.writes.flush();
    } catch (error) {
      throw durabilityFailure(error);
    }
  }

  closeAdmission(): void {
    this.writes.closeAdmission();
    this.tellReaders(Number.MAX_SAFE_INTEGER);
  }

  drain(): Promise<void> {
    return this.writes.drain();
  }

  /** The session is being deleted: what waits is not written any more. */
  discard(): void {
    this.writes.discard();
    this.tellReaders(Number.MAX_SAFE_INTEGER);
  }

  /** Nothing is taken any more: whoever wants the session opens it anew. */
  get isClosed(): boolean {
    return !this.writes.isAdmitting;
  }

  /** Somebody works with the session: it is not idle. */
  touch(): void {
    this.usedAt = this.environment.clock.now();
  }

  /** What all facts in memory say. */
  state(): FoldedState {
    return this.memory.current();
  }

  /** False: the session can be read and no more, because its last run ended without a record of how. */
  get canGoOn(): boolean {
    return !this.notResumable || hasRecordedEnd(this.core);
  }

  /** For rules that judge the session; not to be changed. */
  get facts(): Readonly<SessionCore> {
    return this.core;
  }

  get hasOpenTurn(): boolean {
    return isOpenTurn(this.core.turn);
  }

  get ownerEpoch(): number {
    return this.epoch;
  }

  /** Durable rows with `seq >= fromSeq`, at most `limit`, in order. */
  async rowsFrom(fromSeq: number, limit: number): Promise<readonly SessionRow[]> {
    this.touch();
    const count = Math.min(limit, this.writes.durable - fromSeq + 1);
    if (count <= 0) return [];
    return this.memory.rowsFrom(fromSeq, count) ?? (await this.medium.read(fromSeq, count));
  }

  /** Called in this process as soon as something is a fact in memory. What an observer throws is reported and has no effect. */
  observe(observer: (facts: readonly SessionFact[]) => void): () => void {
    this.observers.add(observer);
    return () => this.observers.delete(observer);
  }

  /**
   * Called when more rows have become durable, for whoever then reads them with `rowsFrom`; with the greatest of numbers when the
   * session is let go of, and is to be opened anew.
   */
  onDurable(reader: (durableSeq: number) => void): () => void {
    this.readers.add(reader);
    return () => this.readers.delete(reader);
  }

  /** Readers wait for what becomes durable next. */
  get isFollowed(): boolean {
    return this.readers.size > 0;
  }

  status(): SessionStatus {
    const { headSeq } = this.core;
    return { ...this.writes.status(), headSeq, ownerEpoch: this.epoch, rowsInMemory: this.memory.heldRows };
  }

  /** Now as text: made once for all appends of a millisecond. */
  private time(): string {
    if (this.usedAt !== this.textMs) {
      this.textMs = this.usedAt;
      this.timeText = timeAt(this.usedAt);
    }
    return this.timeText;
  }

  private answer(events: readonly SessionEvent[]): AppendAnswer {
    return { events, headSeq: this.core.headSeq, durableSeq: this.writes.durable };
  }

  private take(
    inputs: readonly NewSessionEvent[],
    producer: Producer,
    isGroup: boolean,
    isSynthetic = false,
  ): readonly SessionEvent[] {
    if (inputs.length === 0) return [];
    const { nextEventId, eventBytesMax, holdsSecret } = this.context;
    const made = { producer, at: this.time(), nextEventId, eventBytesMax, holdsSecret };
    const context: AppendContext = isSynthetic ? { ...made, synthetic: true } : made;
    const groupId = isGroup ? this.environment.ids.next('unt') : null;
    const appended = appendToCore(this.core, inputs, context, groupId);
    if (!appended.ok) {
      throw new CountersignError(appended.code, appended.message, {
        pointer: `/events/${appended.index}${appended.pointer ?? ''}`,
      });
    }
    this.commit(appended.events, appended.bytes);
    return appended.events;
  }

  private commit(facts: readonly SessionFact[], bytes: number): void {
    this.memory.push(facts);
    this.writes.enqueue(facts.map(rowOf), bytes);
    for (const observer of this.observers) this.contained(() => observer(facts));
  }

  /** Calls that ended before the message that lists them was appended are answered now. */
  private answerListed(events: readonly SessionEvent[]): void {
    if (!events.some((event) => event.eventType === 'assistant.message')) return;
    for (const callId of this.core.turn?.unanswered ?? []) {
      const call = this.core.calls.get(this.core.callIds.get(callId) ?? '');
      const owed = call === undefined ? null : owedAnswer(this.core, call);
      if (owed !== null) this.say(owed);
    }
  }

  /** A result that holds a credential is kept from the conversation; that there was one is not. */
  private say(owed: NewSessionEvent): void {
    const producer = owed.eventType === 'tool.message' ? 'capability-runtime' : 'session-runtime';
    try {
      this.take([owed], producer, false);
    } catch (error) {
      if (!(error instanceof CountersignError) || !WITHHOLDING.has(error.code)) throw error;
      const words =
        owed.eventType === 'tool.message' ? { contents: [{ type: 'text', text: WITHHELD }] } : { text: WITHHELD };
      this.take([{ ...owed, payload: { ...owed.payload, ...words } }], producer, false);
    }
  }

  private async repeated(inputs: readonly NewSessionEvent[], expectedSeq: number): Promise<AppendAnswer> {
    const isBefore = Number.isSafeInteger(expectedSeq) && expectedSeq >= -1 && inputs.length > 0;
    if (isBefore && expectedSeq + inputs.length <= this.core.headSeq) {
      const rows =
        this.memory.rowsFrom(expectedSeq + 1, inputs.length) ??
        (await this.medium.read(expectedSeq + 1, inputs.length));
      if (isRepeat(rows, inputs)) return this.answer(rows);
    }
    throw new CountersignError('seq_conflict', `the log is at ${this.core.headSeq} and not where this append begins`);
  }

  private ports(): ConstructorParameters<typeof WriteBehind>[0] {
    const { after, report } = this.environment;
    return {
      after,
      write: (rows, barrier) => this.medium.write(rows, barrier),
      onFailure: (error) => report('persistence.background_write_failed', this.key, { problem: nameOf(error) }),
      onDurable: (durableSeq) => {
        this.memory.trim(durableSeq);
        this.tellReaders(durableSeq);
      },
    };
  }

  private tellReaders(durableSeq: number): void {
    for (const reader of this.readers) this.contained(() => reader(durableSeq));
  }

  private contained(call: () => void): void {
    try {
      call();
    } catch (error) {
      this.environment.report('persistence.observer_failed', this.key, { problem: nameOf(error) });
    }
  }
}

/** About what a mirror row takes. */
const MIRROR_BYTES = 1200;
const WITHHELD = 'The result holds something that is not repeated here.';
const WITHHOLDING: ReadonlySet<string> = new Set(['secret_in_payload', 'payload_too_large', 'state_not_serializable']);

const stale = (): CountersignError => new CountersignError('owner_epoch_stale', 'another harness has attached since');

/** Messages of media hold paths and file names; their codes and classes do not. */
function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
