import { Injectable } from '@nestjs/common';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import type { Capability } from '../../capabilities/manifest.js';
import { RecordTampered } from '../../policy/case-file.js';
import type { CommittedUnit } from '../../storage/feed.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { after, type Timer } from '../../system/timers.js';
import { Attempt } from './attempt.js';
import { Dispatcher } from './dispatcher.js';
import { WaitingCalls, type WaitingCall } from './waiting-calls.js';

/** Calls remembered as reported; more of them is a matter for people, not for memory. */
const TAMPERED_MAX = 10_000;

/**
 * Carries out what is authorized. The commit itself wakes it: a unit that authorizes a call puts it in line, a unit that
 * makes its dispatch durable sends it. The sweep puts in line what a restart or a lost wake-up left behind.
 */
@Injectable()
export class Executor {
  private readonly waiting = new WaitingCalls();
  private readonly running = new Map<string, Promise<void>>();
  /** Authorized anew while still running: back in line when the work before has ended. */
  private readonly again = new Map<string, WaitingCall>();
  private readonly rateTimers = new Map<string, Timer>();
  private readonly tampered = new Set<string>();
  private stopListening: () => void = () => {};

  constructor(
    private readonly desk: UnitDesk,
    private readonly gate: CapabilityGate,
    private readonly dispatcher: Dispatcher,
    private readonly attempt: Attempt,
    private readonly logger: Logger,
  ) {}

  start(): void {
    const unsubscribe = this.desk.feed.subscribe('executor', (durable) => this.onDurable(durable));
    // A slot that comes back, from an attempt or from a proposal that did not become true, is room for whoever waits.
    const unlisten = this.gate.slots.onFree(() => this.pump());
    this.stopListening = () => {
      unsubscribe();
      unlisten();
    };
  }

  /** Takes nothing new. Answers when everything on the wire has ended, or after the grace, whichever is first. */
  async stop(graceMs: number): Promise<void> {
    this.gate.slots.close();
    const grace = new Promise<void>((resolve) => void after(graceMs, resolve).unref());
    await Promise.race([this.idle(), grace]);
    this.stopListening();
    for (const timer of this.rateTimers.values()) timer.cancel();
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
    if (this.running.has(call.toolCallId)) this.again.set(call.toolCallId, call);
    else this.waiting.add(call);
  }

  /** Starts as many waiting calls as there are slots. */
  pump(): void {
    for (const capabilityName of this.waiting.capabilities()) {
      const capability = this.gate.get(capabilityName);
      for (let next = this.waiting.first(capabilityName); next !== null; next = this.waiting.first(capabilityName)) {
        // A call whose definition is gone needs no slot: the dispatcher only closes it.
        if (capability !== undefined && !this.gate.slots.reserve(next.toolCallId, capability)) {
          this.pumpWhenRateAllows(capability);
          break;
        }
        this.waiting.remove(next);
        this.track(next.toolCallId, this.dispatch(next));
      }
    }
  }

  /** A rate makes room without any event, so whoever waits for it needs a timer. */
  private pumpWhenRateAllows(capability: Capability): void {
    const { name } = capability.manifest;
    const waitMs = this.gate.slots.waitMs(capability);
    if (waitMs === null || this.rateTimers.has(name)) return;
    const timer = after(Math.max(1, Math.ceil(waitMs)), () => {
      this.rateTimers.delete(name);
      this.pump();
    });
    this.rateTimers.set(name, timer.unref());
  }

  private onDurable({ unit }: CommittedUnit): void {
    for (const { stream, events } of unit.appends) {
      if (stream.kind !== 'call') continue;
      const call = { tenant: unit.tenant, toolCallId: stream.id };
      const last = events[events.length - 1];
      if (last?.type === 'tool.call.dispatching' && last.payload['owner'] === this.desk.instance.instanceId) {
        this.waiting.remove({ ...call, capability: nameOf(last.refs.capabilityId) });
        this.track(stream.id, this.carry(call.tenant, stream.id));
      } else if (last?.type === 'capability.authorized') {
        this.enqueue({ ...call, capability: nameOf(last.refs.capabilityId) });
      }
    }
    this.pump();
  }

  /** Up to the durable intent; the feed goes on from there. */
  private async dispatch(call: WaitingCall): Promise<void> {
    let result = 'held';
    try {
      result = await this.dispatcher.dispatch(call.tenant, call.toolCallId);
    } catch (error) {
      this.report(call, error);
    }
    if (result !== 'dispatching') this.gate.slots.cancel(call.toolCallId);
  }

  /** A record that differs from what was agreed to stays so: it is looked at by every sweep and reported once. */
  private report({ toolCallId }: WaitingCall, error: unknown): void {
    if (!(error instanceof RecordTampered)) {
      this.logger.error('dispatch failed', { toolCallId, error: errorName(error) });
      return;
    }
    if (this.tampered.has(toolCallId)) return;
    if (this.tampered.size >= TAMPERED_MAX) this.tampered.clear();
    this.tampered.add(toolCallId);
    this.logger.error('record of a call differs from what was agreed to', { toolCallId, error: errorName(error) });
  }

  private async carry(tenant: string, toolCallId: string): Promise<void> {
    try {
      await this.attempt.run(tenant, toolCallId);
    } catch (error) {
      this.logger.error('an attempt failed', { toolCallId, error: errorName(error) });
    }
    this.gate.slots.giveBack(toolCallId);
  }

  private track(toolCallId: string, work: Promise<void>): void {
    const before = this.running.get(toolCallId);
    const both = before === undefined ? work : Promise.all([before, work]).then(() => undefined);
    this.running.set(toolCallId, both);
    void both.then(() => {
      if (this.running.get(toolCallId) === both) this.release(toolCallId);
      this.pump();
    });
  }

  private release(toolCallId: string): void {
    this.running.delete(toolCallId);
    const again = this.again.get(toolCallId);
    this.again.delete(toolCallId);
    if (again !== undefined) this.waiting.add(again);
  }
}

const nameOf = (capabilityId: string | undefined): string => (capabilityId ?? '').split('@')[0] as string;
