import type { ExecutionSlots, Slot } from './execution-slots.js';
import type { Capability } from './manifest.js';

/**
 * Slots of calls whose dispatch is on its way to the disk. Whoever builds the unit reserves; the executor takes the slot
 * over when the unit is durable and gives it back when the attempt has ended.
 */
export class DispatchHandover {
  private readonly reserved = new Map<string, Slot>();
  private accepting = true;

  constructor(private readonly slots: ExecutionSlots) {}

  /** False when no slot is free, or when the process is stopping. */
  reserve(toolCallId: string, capability: Capability): boolean {
    if (!this.accepting) return false;
    if (this.reserved.has(toolCallId)) return true;
    const slot = this.slots.tryAcquire(capability.manifest.name);
    if (slot === null) return false;
    this.reserved.set(toolCallId, slot);
    return true;
  }

  /** Milliseconds until the rate of a capability allows one more; null when only an ended attempt can make room. */
  waitMs(capability: Capability): number | null {
    return this.accepting ? this.slots.waitMs(capability.manifest.name) : null;
  }

  /** The attempt has ended. */
  giveBack(toolCallId: string): void {
    const slot = this.take(toolCallId);
    if (slot !== null) this.slots.release(slot);
  }

  /** Nothing was dispatched: the slot does not count against the rate either. */
  cancel(toolCallId: string): void {
    const slot = this.take(toolCallId);
    if (slot !== null) this.slots.cancel(slot);
  }

  private take(toolCallId: string): Slot | null {
    const slot = this.reserved.get(toolCallId) ?? null;
    this.reserved.delete(toolCallId);
    return slot;
  }

  /** Calls that hold a slot. */
  get size(): number {
    return this.reserved.size;
  }

  /** Calls the listener whenever a slot comes back. Answers how to end that. */
  onFree(listener: () => void): () => void {
    return this.slots.onFree(listener);
  }

  /** From now on nothing new is dispatched by this process. */
  close(): void {
    this.accepting = false;
  }
}
