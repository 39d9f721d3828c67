import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Settings } from '../../src/config/settings.js';
import { LeaseAuthority } from '../../src/policy/leases/lease-authority.js';
import { LeaseTokens } from '../../src/policy/leases/lease-tokens.js';
import { LeaseUses } from '../../src/policy/leases/lease-uses.js';
import { ProbeLeases } from '../../src/policy/leases/probe-leases.js';
import { LeaseKeys } from '../../src/secrets/lease-keys.js';
import type { UnitDesk } from '../../src/storage/units/unit-desk.js';
import type { Logger } from '../../src/system/logger.js';
import { Metrics } from '../../src/system/metrics/metrics.js';

/** The parts that lend, over the desk of a spec. Keys are made, in a folder of their own, when a token is. */
export interface LeaseParts {
  readonly keys: LeaseKeys;
  readonly tokens: LeaseTokens;
  readonly authority: LeaseAuthority;
  readonly probes: ProbeLeases;
  readonly uses: LeaseUses;
}

interface Over {
  readonly desk: UnitDesk;
  readonly settings: Settings;
  readonly log: Logger;
}

export function leasesOf({ desk, settings, log }: Over): LeaseParts {
  const dir = join(tmpdir(), `countersign-lease-keys-${process.pid}-${Math.random().toString(36).slice(2)}`);
  const keys = new LeaseKeys(dir, { publishMs: 300_000, keepMs: 360_000 }, desk.clock);
  const tokens = new LeaseTokens(keys, settings, desk.clock);
  const authority = new LeaseAuthority(desk, settings, tokens);
  return {
    keys,
    tokens,
    authority,
    probes: new ProbeLeases(desk, authority),
    uses: new LeaseUses(desk, tokens, log, new Metrics()),
  };
}
