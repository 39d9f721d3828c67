import { GuardFailed } from '../storage/unit.js';
import type { Clock } from '../system/clock.js';
import { errorName, type Logger } from '../system/logger.js';
import { after } from '../system/timers.js';
import type { TailListener } from './event-tail.js';
import { SinkRounds, type SinkParts } from './sink-rounds.js';

/** Moving the cursor costs a flush, so it moves this often at most: what a crash leaves unsaved is told again. */
const SAVE_EVERY_MS = 1_000;

/** After a failure of our own. */
const REPAIR_MS = 1_000;

/** Looked again at least this often: what is due goes by the wall clock, and that may move. */
const REST_MS_MAX = 600_000;

/** How a sink is doing, for operators. */
export interface SinkStatus {
  readonly name: string;
  readonly kind: 'webhook' | 'file' | 'chat';
  /** Positions between its cursor and the newest event. */
  readonly lagPositions: number;
  /** Age of the oldest event it still has to be given. */
  readonly lagMs: number;
  readonly parked: number;
  readonly dead: number;
  /** Why it takes nothing now; null while it does. */
  readonly lastError: string | null;
  /** It said that it wants no more events; a replay or a restart asks again. */
  readonly isGone: boolean;
}

/** Tells one sink of events for as long as it runs. Sinks share nothing but the newest events: none waits for another. */
export class SinkWorker implements TailListener {
  private readonly rounds: SinkRounds;
  private readonly clock: Clock;
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();
  private savedAtMs: number;
  private hasNews = false;
  private isRepairing = false;
  private wake = (): void => {};

  constructor(
    private readonly parts: SinkParts,
    private readonly logger: Logger,
  ) {
    this.rounds = new SinkRounds(parts);
    this.clock = parts.clock;
    this.savedAtMs = parts.clock.monotonic();
  }

  open(): Promise<void> {
    return this.rounds.open();
  }

  start(): void {
    this.running = this.run();
  }

  /** Begins no delivery any more, lets those on their way end, writes down what became of them, closes the sink. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.wake();
    await this.running;
    await this.rounds.save().catch((error: unknown) => this.report('the cursor of a sink could not be saved', error));
    await this.parts.sink.close();
  }

  onEvents(): void {
    this.hasNews = true;
    this.wake();
  }

  onBooksChanged(): void {
    this.rounds.forget();
    this.parts.pace.endRest();
    this.onEvents();
  }

  /** One round, written down. True when there is more to do at once. */
  async tick(): Promise<boolean> {
    const more = await this.rounds.run(this.stopping.signal);
    await this.rounds.save();
    return more;
  }

  status(): SinkStatus {
    const { name, settings, tail, pace } = this.parts;
    const { ledger, waitingSince, position } = this.rounds;
    return {
      name,
      kind: settings.kind,
      lagPositions: Math.max(0, tail.head() - 1 - position),
      lagMs: waitingSince === null ? 0 : Math.max(0, this.clock.now() - Date.parse(waitingSince)),
      parked: ledger.lot.size,
      dead: ledger.dead,
      lastError: pace.lastError,
      isGone: pace.isGone,
    };
  }

  private async run(): Promise<void> {
    while (!this.stopping.signal.aborted) {
      this.hasNews = false;
      try {
        const more = await this.rounds.run(this.stopping.signal);
        if (this.isSaveDue()) await this.save();
        this.isRepairing = false;
        await (more ? new Promise<void>((resolve) => setImmediate(resolve)) : this.sleep());
      } catch (error) {
        this.report('a round of a sink failed', error);
        // Another instance relays now: this one keeps its hands off from here on.
        if (error instanceof GuardFailed) return;
        this.isRepairing = true;
        await this.sleep();
      }
    }
  }

  private isSaveDue(): boolean {
    return this.rounds.ledger.isUrgent || this.clock.monotonic() - this.savedAtMs >= SAVE_EVERY_MS;
  }

  private async save(): Promise<void> {
    this.savedAtMs = this.clock.monotonic();
    await this.rounds.save();
  }

  /** Until there are new events, or something is due. */
  private async sleep(): Promise<void> {
    const { pace } = this.parts;
    const isAwaited = (): boolean => this.hasNews && pace.restMs === 0;
    await (this.isRepairing ? this.rest(REPAIR_MS, () => false) : this.rest(this.sleepMs(), isAwaited));
    // A moment more, so that many events share one write.
    const { lingerMs } = this.parts.sink;
    if (lingerMs > 0) await this.rest(lingerMs, () => false);
  }

  private sleepMs(): number {
    const { pace } = this.parts;
    const { ledger, position } = this.rounds;
    const dueMs = Math.max((ledger.lot.nextDueMs ?? Infinity) - this.clock.now(), pace.restMs);
    const saveMs =
      ledger.changes(position) === null ? Infinity : this.savedAtMs + SAVE_EVERY_MS - this.clock.monotonic();
    return Math.min(dueMs, pace.isDown ? pace.restMs : Infinity, saveMs);
  }

  private async rest(ms: number, isOver: () => boolean): Promise<void> {
    if (isOver() || this.stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = Number.isFinite(ms) ? after(Math.min(Math.max(ms, 1), REST_MS_MAX), resolve) : null;
      this.wake = () => {
        if (!isOver() && !this.stopping.signal.aborted) return;
        timer?.cancel();
        resolve();
      };
    });
    this.wake = (): void => {};
  }

  private report(message: string, error: unknown): void {
    this.logger.error(message, { sink: this.parts.name, error: errorName(error) });
  }
}
