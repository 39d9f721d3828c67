import type { Settings, SinkSettings } from '../config/settings.js';
import type { HttpClient } from '../egress/http-client.js';
import { WebhookSigner, type SecretResolver } from '../secrets/webhook-signer.js';
import type { UnitDesk } from '../storage/units/unit-desk.js';
import type { Logger } from '../system/logger.js';
import type { RandomSource } from '../system/random-source.js';
import { ChatSink } from './chat-sink.js';
import { senderOf } from './cloud-event.js';
import { EventTail } from './event-tail.js';
import { FileSink } from './file-sink.js';
import { SinkBooks } from './sink-books.js';
import { SinkPace } from './sink-pace.js';
import type { Sink } from './sink.js';
import { SinkWorker, type SinkStatus } from './sink-worker.js';
import { typesOf } from './type-filter.js';
import { WebhookSink } from './webhook-sink.js';

/** How to reach receivers, and what deliveries to them are signed with. */
export interface RelaySurroundings {
  readonly client: Pick<HttpClient, 'send'>;
  readonly resolve: SecretResolver;
}

/**
 * Tells every sink of the settings of what has become durable: at least once, in order per call. The event table is the
 * outbox; each sink has a cursor over it and a worker of its own.
 */
export class OutboxRelay {
  private readonly tail: EventTail;
  private readonly workers: readonly SinkWorker[];

  constructor(
    settings: Settings,
    private readonly desk: UnitDesk,
    private readonly outside: RelaySurroundings,
    private readonly random: RandomSource,
    private readonly logger: Logger,
  ) {
    const sinks = Object.entries(settings.outbox.sinks);
    const filters = sinks.map(([, sink]) => typesOf(sink));
    const isWanted = (type: string): boolean => filters.some((types) => types === null || types.has(type));
    this.tail = new EventTail(desk, senderOf(settings.installation), isWanted);
    this.workers = sinks.map(([name, sink]) => this.worker(name, sink));
  }

  /**
   * Every sink knows where it begins before the first request is taken: nothing that a client is told of is missed.
   *
   * @throws GuardFailed when a newer instance relays.
   */
  async open(): Promise<void> {
    if (this.workers.length === 0) return;
    this.tail.start(this.workers);
    for (const worker of this.workers) await worker.open();
  }

  /** Makes rounds by itself from here on, whenever something is to be told. */
  start(): void {
    for (const worker of this.workers) worker.start();
  }

  /** Ends what is on its way, and keeps how far each sink has come. What takes longer is delivered again by the next process. */
  async stop(): Promise<void> {
    this.tail.stop();
    await Promise.all(this.workers.map((worker) => worker.stop()));
  }

  /** One round of every sink. True when one of them has more to do at once. */
  async tick(): Promise<boolean> {
    const more = await Promise.all(this.workers.map((worker) => worker.tick()));
    return more.includes(true);
  }

  statuses(): readonly SinkStatus[] {
    return this.workers.map((worker) => worker.status());
  }

  private worker(name: string, settings: SinkSettings): SinkWorker {
    const { desk, random, logger, tail } = this;
    const { clock } = desk;
    const pace = new SinkPace(name, settings, clock, random, logger);
    const parts = { name, settings, tail, pace, clock, random, books: new SinkBooks(desk, name) };
    return new SinkWorker({ ...parts, sink: this.sinkOf(settings) }, logger);
  }

  private sinkOf(settings: SinkSettings): Sink {
    if (settings.kind === 'file') return new FileSink(settings.path);
    const { clock } = this.desk;
    const { client, resolve } = this.outside;
    if (settings.kind === 'chat') {
      const url = resolve(settings.url);
      if (url === null) throw new Error('the address of a chat is checked at boot');
      return new ChatSink(settings, url, client, clock);
    }
    const signer = new WebhookSigner(settings.secrets, () => clock.monotonic(), resolve);
    return new WebhookSink(settings, client, signer, clock);
  }
}
