import { Injectable } from '@nestjs/common';
import type { EventType } from '../../domain/events/catalogue.js';
import type { CommittedUnit } from '../../storage/feed.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { Cancellation } from './cancellation.js';

/** After these the tool may have the request, so it can be asked to stop it. */
const SENT: readonly EventType[] = ['tool.call.dispatched', 'tool.call.accepted'];

/** After these there is nothing left to ask about. */
const OVER: readonly EventType[] = [
  'tool.call.completed',
  'tool.call.failed',
  'tool.call.result_unknown',
  'external_action_irreversible',
];

/**
 * Asks tools to stop what is on the wire, as soon as the wish is durable and the request is known to have been sent. It
 * follows the commits of this process only and asks once: after a crash nobody can tell whether the tool was asked, so
 * it is not asked again and the sweep says that the answer is missing.
 */
@Injectable()
export class Canceller {
  /** Wishes of this process that the tool has not been told yet, by call. */
  private readonly wishes = new Set<string>();
  private readonly asking = new Map<string, Promise<void>>();
  private stopListening: () => void = () => {};

  constructor(
    private readonly desk: UnitDesk,
    private readonly cancellation: Cancellation,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.stopListening = this.desk.feed.subscribe('canceller', (durable) => this.onDurable(durable));
  }

  /** Takes nothing new; answers when the tools that were asked have answered, or their time is over. */
  async stop(): Promise<void> {
    this.stopListening();
    await this.idle();
  }

  async idle(): Promise<void> {
    while (this.asking.size > 0) await Promise.all(this.asking.values());
  }

  /** True while this process is asking the tool to stop the call; the sweep leaves it alone then. */
  isAsking(toolCallId: string): boolean {
    return this.asking.has(toolCallId);
  }

  private onDurable({ unit }: CommittedUnit): void {
    for (const { stream, events } of unit.appends) {
      if (stream.kind !== 'call') continue;
      for (const { type } of events) this.note(unit.tenant, stream.id, type);
    }
  }

  private note(tenant: string, toolCallId: string, type: EventType): void {
    if (type === 'tool.cancellation_requested') this.wishes.add(toolCallId);
    else if (this.wishes.size === 0 || !this.wishes.has(toolCallId)) return;
    if (OVER.includes(type)) this.wishes.delete(toolCallId);
    else if (type === 'tool.cancellation_requested' || SENT.includes(type)) this.ask(tenant, toolCallId);
  }

  private ask(tenant: string, toolCallId: string): void {
    const before = this.asking.get(toolCallId) ?? Promise.resolve();
    const work = before
      .then(() => this.askOnce(tenant, toolCallId))
      .catch((error: unknown) => {
        this.logger.error('a cancellation could not be carried out', { toolCallId, error: errorName(error) });
      })
      .finally(() => {
        if (this.asking.get(toolCallId) === work) this.asking.delete(toolCallId);
      });
    this.asking.set(toolCallId, work);
  }

  private async askOnce(tenant: string, toolCallId: string): Promise<void> {
    if (!this.wishes.has(toolCallId)) return;
    const call = await this.cancellation.ready(tenant, toolCallId);
    // Taken back before the first byte: whatever comes of it, this wish is told once.
    if (call === null || !this.wishes.delete(toolCallId)) return;
    await this.cancellation.pursue(call);
  }
}
