import { Controller, Get } from '@nestjs/common';
import { CapabilityRegistry } from '../capabilities/capability-registry.js';
import { PauseBoard } from '../capabilities/pause-board.js';
import type { Capability } from '../capabilities/manifest.js';
import type { CapabilityList, CapabilityRepresentation } from '../client/contract/capabilities.js';
import { principalOf } from '../domain/principal.js';
import { AllowRoles, CurrentCaller } from '../identity/bearer.guard.js';
import { ROLES, type Caller } from '../identity/caller.js';
import { LIST_CAPABILITIES } from './capabilities.operations.js';
import { Implements } from './openapi/operation.js';

/** The capabilities in force, as an agent needs them: what to send, what it may cost, whether a key is needed. */
@Controller('v1/capabilities')
export class CapabilitiesController {
  constructor(
    private readonly capabilities: CapabilityRegistry,
    private readonly pauses: PauseBoard,
  ) {}

  @Get()
  @AllowRoles(...ROLES)
  @Implements(LIST_CAPABILITIES)
  list(@CurrentCaller() caller: Caller): CapabilityList {
    return { items: this.capabilities.list().map((capability) => this.represent(capability, caller)) };
  }

  private represent(capability: Capability, caller: Caller): CapabilityRepresentation {
    const { manifest, manifestDigest } = capability;
    const paused = this.pauses.find(caller.tenant, principalOf(caller.actor), manifest.name) !== null;
    return {
      name: manifest.name,
      version: manifest.version,
      title: manifest.title,
      description: manifest.description,
      risk: manifest.risk,
      effect: manifest.effect,
      inputSchema: manifest.inputSchema,
      outputSchema: manifest.outputSchema,
      idempotencyKeyRequired: manifest.effect !== 'read_only' && manifest.idempotency.callerKeyTemplate === null,
      state: this.pauses.heldCapabilities().includes(manifest.name) ? 'held' : paused ? 'paused' : 'active',
      manifestDigest,
    };
  }
}
