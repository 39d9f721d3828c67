import { IntrospectLeaseHandler, RotateLeaseKeyHandler } from './lease-tokens.handlers.js';
import { RenewLeaseHandler } from './renew-lease.handler.js';
import { RevokeLeaseHandler, RevokeLeasesHandler } from './revoke-leases.handler.js';

export const LEASE_COMMANDS = [
  RevokeLeaseHandler,
  RevokeLeasesHandler,
  RenewLeaseHandler,
  IntrospectLeaseHandler,
  RotateLeaseKeyHandler,
];
