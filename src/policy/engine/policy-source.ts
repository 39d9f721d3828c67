import type { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import type { Settings } from '../../config/settings.js';
import type { PolicySources } from './load-policies.js';

/** Where policies come from, asked anew at each load: token for injection. */
export abstract class PolicySource {
  abstract current(): PolicySources;
}

/** The folder and groups of the settings, and the capabilities in force. */
export class ConfiguredPolicySource extends PolicySource {
  constructor(
    private readonly settings: Settings['policy'],
    private readonly capabilities: Pick<CapabilityRegistry, 'list'>,
  ) {
    super();
  }

  override current(): PolicySources {
    const { dir, approverGroups, decideWithinMs, executionWindowMs } = this.settings;
    return {
      dir,
      approverGroups,
      defaults: { decideWithinMs, executionWindowMs },
      capabilities: this.capabilities.list().map(({ manifest }) => manifest),
    };
  }
}
