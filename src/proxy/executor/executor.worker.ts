import { Injectable } from '@nestjs/common';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import { DispatchHandover } from '../../capabilities/dispatch-handover.js';
import { RecordTampered } from '../../policy/case-file.js';
import type { CommittedUnit } from '../../storage/feed.js';
import { InstanceIdentity } from '../../storage/instance-identity.js';
import { Store } from '../../storage/store.js';
import { Logger, errorName } from '../../system/logger.js';
import { Attempt } from './attempt.js';
import { Breaker } from './breaker.js';
import { Dispatcher } from './dispatcher.js';
import { WaitingCalls, type WaitingCall } from './waiting-calls.js';

/**
 * Carries out what is authorized. The commit itself wakes it: a unit that authorizes a call puts it in line, a unit that
 * makes its dispatch durable sends it. The sweep puts in line what a restart or a lost wake-up left behind.
 */
@Injectable()
export class Executor {
  private readonly waiting = new WaitingCalls();
  private readonly running = new Map<string, Promise<void>>();
  private stopListening: () => void = () => {};

  constructor(
    private readonly store: Store,
    private readonly logger: Logger,
    private readonly capabilities: CapabilityRegistry,
    private readonly handover: DispatchHandover,
    private readonly dispatcher: Dispatcher,
    private readonly attempt: Attempt,
    private readonly breaker: Breaker,
    private readonly instance: InstanceIdentity,
  ) {}

  start(): void {
    this.stopListening = this.store.feed.subscribe('executor', (durable) => this.onDurable(durable));
  }

  /** Takes nothing new. Answers when everything on the wire has ended, or after the grace, whichever is first. */
  async stop(graceMs: number): Promise<void> {
    this.handover.close();
    const grace = new Promise<void>((resolve) => setTimeout(resolve, graceMs).unref());
    await Promise.race([this.idle(), grace]);
    this.stopListening();
  }

  /** Answers when nothing is on its way. */
  async idle(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running.values());
  }

  /** True while this process is carrying the call; the sweep leaves it alone then. */
  isCarrying(toolCallId: string): boolean {
    return this.running.has(toolCallId);
  }

  /** Puts an authorized call in line, in order of authorisation; known ones stay where they are. */
  enqueue(call: WaitingCall): void {
    if (!this.running.has(call.toolCallId)) this.waiting.add(call);
  }

  /** Starts as many waiting calls as there are slots. */
  pump(): void {
    for (const capabilityName of this.waiting.capabilities()) {
      const capability = this.capabilities.get(capabilityName);
      for (let next = this.waiting.first(capabilityName); next !== null; next = this.waiting.first(capabilityName)) {
        // A call whose definition is gone needs no slot: the dispatcher only closes it.
        if (capability !== undefined && !this.handover.reserve(next.toolCallId, capability)) break;
        this.waiting.remove(next);
        this.track(next.toolCallId, this.dispatch(next));
      }
    }
  }

  private onDurable({ unit }: CommittedUnit): void {
    let dispatching = false;
    let authorized: WaitingCall | null = null;
    for (const { stream, events } of unit.appends) {
      if (stream.kind !== 'call') continue;
      for (const event of events) {
        if (event.type === 'capability.authorized') {
          authorized = { tenant: unit.tenant, toolCallId: stream.id, capability: nameOf(event.refs.capabilityId) };
        }
        if (event.type === 'tool.call.dispatching' && event.payload['owner'] === this.instance.get().instanceId) {
          dispatching = true;
          this.track(stream.id, this.carry(unit.tenant, stream.id));
        }
      }
    }
    if (authorized !== null && !dispatching) {
      this.enqueue(authorized);
      this.pump();
    }
  }

  /** Up to the durable intent; the feed goes on from there. */
  private async dispatch(call: WaitingCall): Promise<void> {
    try {
      const result = await this.dispatcher.dispatch(call.tenant, call.toolCallId);
      if (result !== 'dispatching') this.handover.giveBack(call.toolCallId);
    } catch (error) {
      this.handover.giveBack(call.toolCallId);
      const message = error instanceof RecordTampered ? 'record of a call differs from what was agreed to' : 'dispatch failed';
      this.logger.error(message, { toolCallId: call.toolCallId, error: errorName(error) });
    }
  }

  private async carry(tenant: string, toolCallId: string): Promise<void> {
    try {
      const end = await this.attempt.run(tenant, toolCallId);
      await this.breaker.note(tenant, toolCallId, end);
    } catch (error) {
      this.logger.error('an attempt failed', { toolCallId, error: errorName(error) });
    } finally {
      this.handover.giveBack(toolCallId);
    }
  }

  private track(toolCallId: string, work: Promise<void>): void {
    const before = this.running.get(toolCallId);
    const both = before === undefined ? work : Promise.all([before, work]).then(() => undefined);
    this.running.set(toolCallId, both);
    void both.then(() => {
      if (this.running.get(toolCallId) === both) this.running.delete(toolCallId);
      this.pump();
    });
  }
}

const nameOf = (capabilityId: string | undefined): string => (capabilityId ?? '').split('@')[0] as string;
