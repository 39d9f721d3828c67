import type { Principal } from '../domain/principal.js';
import type { TableRow } from '../storage/rows/tables.js';
import { GuardFailed, type Guard } from '../storage/unit.js';
import { CapabilityRegistry } from './capability-registry.js';
import { DispatchHandover } from './dispatch-handover.js';
import { capabilityIsActive } from './dispatch-plan.js';
import type { Capability } from './manifest.js';
import { PauseBoard } from './pause-board.js';

/** What stands between a call and its tool besides policy: the definition in force, pauses, and room. */
export class CapabilityGate {
  constructor(
    private readonly registry: CapabilityRegistry,
    private readonly pauses: PauseBoard,
    readonly slots: DispatchHandover,
  ) {}

  /** By name; undefined when none of that name is in force. */
  get(name: string): Capability | undefined {
    return this.registry.get(name);
  }

  /** The definition a call is bound to, if it is still the one in force. */
  bound(call: { readonly capability: string; readonly manifestDigest: string }): Capability | undefined {
    const capability = this.registry.get(call.capability);
    return capability?.manifestDigest === call.manifestDigest ? capability : undefined;
  }

  /** Whether any definition in force says that the tool is asked about what it has accepted. */
  get anyPolls(): boolean {
    return this.registry.list().some(({ manifest }) => manifest.lateResult === 'poll');
  }

  /** Digests of all definitions in force. */
  digestsInForce(): readonly string[] {
    return this.registry.list().map(({ manifestDigest }) => manifestDigest);
  }

  pauseFor(tenant: string, principal: Principal, capability: string): TableRow<'pauses'> | null {
    return this.pauses.find(tenant, principal, capability);
  }

  /** Nothing is admitted or sent until an operator has accepted the store. */
  get storeIsHeld(): boolean {
    return this.pauses.hold !== null;
  }

  /** After a failed guard: what another writer has paused or let go. */
  lookAgain(): Promise<void> {
    return this.pauses.reload();
  }

  /** The definition in force, and nobody holds it. */
  definitionGuard(capability: Capability): Guard {
    return capabilityIsActive(capability);
  }

  /**
   * A unit that would send holds these: nothing is paused for it, and the definition is in force. The pauses are looked
   * at again in the step that takes the guard: whoever looked before asking the policy looked at an older revision.
   *
   * @throws GuardFailed `pauses` when a pause was set since
   */
  guards(capability: Capability, tenant: string, principal: Principal): readonly Guard[] {
    if (this.pauseFor(tenant, principal, capability.manifest.name) !== null) throw new GuardFailed('pauses');
    return [this.pauses.guard(), capabilityIsActive(capability)];
  }
}
