export interface WaitingCall {
  readonly tenant: string;
  readonly toolCallId: string;
  /** Name of the capability. */
  readonly capability: string;
}

/** Authorized calls that wait for a slot: per capability, in order of authorisation, each at most once. */
export class WaitingCalls {
  private readonly lines = new Map<string, Map<string, WaitingCall>>();

  add(call: WaitingCall): void {
    const line = this.lines.get(call.capability) ?? new Map<string, WaitingCall>();
    if (!line.has(call.toolCallId)) line.set(call.toolCallId, call);
    this.lines.set(call.capability, line);
  }

  remove(call: WaitingCall): void {
    const line = this.lines.get(call.capability);
    line?.delete(call.toolCallId);
    if (line?.size === 0) this.lines.delete(call.capability);
  }

  first(capability: string): WaitingCall | null {
    const next = this.lines.get(capability)?.values().next();
    return next === undefined || next.done === true ? null : next.value;
  }

  capabilities(): readonly string[] {
    return [...this.lines.keys()];
  }
}
