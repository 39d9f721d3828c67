import { join } from 'node:path';
import type { Provider } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { LeaseKeys } from '../../secrets/lease-keys.js';
import { Clock } from '../../system/clock.js';
import { LeaseAuthority } from './lease-authority.js';
import { LeaseRevocation } from './lease-revocation.js';
import { LeaseSweep } from './lease-sweep.js';
import { LeaseTokens } from './lease-tokens.js';
import { LeaseUses } from './lease-uses.js';
import { ProbeLeases } from './probe-leases.js';
import { NoUpstreamRevoker, UpstreamRevocations, UpstreamRevoker } from './upstream-revocations.js';

/** The longest lease, and what clocks may be apart: as long as a key that signs no more is needed. */
const KEY_KEPT_MS = 300_000 + 60_000;

/** Everything about leases. */
export const LEASES: Provider[] = [
  {
    provide: LeaseKeys,
    useFactory: ({ dataDir, leases }: Settings, clock: Clock) =>
      new LeaseKeys(join(dataDir, 'lease-keys'), { publishMs: leases.keyPublishMs, keepMs: KEY_KEPT_MS }, clock),
    inject: [Settings, Clock],
  },
  { provide: UpstreamRevoker, useClass: NoUpstreamRevoker },
  LeaseTokens,
  LeaseAuthority,
  LeaseUses,
  ProbeLeases,
  LeaseRevocation,
  LeaseSweep,
  UpstreamRevocations,
];
