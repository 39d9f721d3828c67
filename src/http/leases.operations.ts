import {
  keySet,
  leaseIntrospected,
  leaseIntrospectionBody,
  leaseKeyRotated,
  leaseKeyRotationBody,
  leaseListQuery,
  leasePage,
  leaseRenewalBody,
  leaseRenewed,
  leaseRepresentation,
  leaseRevocationBody,
  leasesRevoked,
  leaseSelectionBody,
} from '../client/contract/leases.js';
import { COMMAND_KEY } from './openapi/headers.js';
import type { Operation } from './openapi/operation.js';
import { RECORDING } from './openapi/usual-refusals.js';

export const LIST_LEASES = {
  id: 'listLeases',
  tag: 'Leases',
  summary: 'List leases',
  query: leaseListQuery,
  answers: { 200: { means: 'A page of leases of the tenant, newest first.', body: leasePage } },
  refusals: [],
} as const satisfies Operation;

export const GET_LEASE = {
  id: 'getLease',
  tag: 'Leases',
  summary: 'Read a lease',
  answers: { 200: { means: 'The lease.', body: leaseRepresentation } },
  refusals: ['lease_not_found'],
} as const satisfies Operation;

const COMMANDED = ['invalid_idempotency_key', 'command_id_conflict', ...RECORDING] as const;

export const REVOKE_LEASE = {
  id: 'revokeLease',
  tag: 'Leases',
  summary: 'Revoke a lease',
  description:
    'Ends it here at once. Of one that has ended nothing changes, and that is no error. Whoever may not is refused on record.',
  headers: [COMMAND_KEY],
  body: leaseRevocationBody,
  answers: { 200: { means: 'The lease as it is now.', body: leaseRepresentation } },
  refusals: ['not_authorized', 'lease_not_found', 'lease_refused', ...COMMANDED],
} as const satisfies Operation;

export const REVOKE_LEASES = {
  id: 'revokeLeases',
  tag: 'Leases',
  summary: 'Revoke leases by what they are for',
  description:
    'All live leases of an agent, a run, an approval, a capability or a policy revision; by key or epoch, for operators of the installation, those of every tenant.',
  headers: [COMMAND_KEY],
  body: leaseSelectionBody,
  answers: { 200: { means: 'They are ended.', body: leasesRevoked } },
  refusals: ['not_authorized', ...COMMANDED],
} as const satisfies Operation;

export const RENEW_LEASE = {
  id: 'renewLease',
  tag: 'Leases',
  summary: 'Renew a lease',
  description:
    'Puts a new lease in its place while the call it is for has been accepted and runs on. Never wider. The same command again is the same lease.',
  headers: [COMMAND_KEY],
  body: leaseRenewalBody,
  answers: { 200: { means: 'The new lease, and its token for whoever holds it.', body: leaseRenewed } },
  refusals: [
    'lease_not_found',
    'lease_refused',
    'lease_released',
    'lease_expired',
    'lease_revoked',
    'lease_exhausted',
    'lease_scope_exceeded',
    'lease_renewal_refused',
    'run_already_ended',
    ...COMMANDED,
  ],
} as const satisfies Operation;

export const INTROSPECT_LEASE = {
  id: 'introspectLease',
  tag: 'Leases',
  summary: 'Look at a lease token, or use it',
  description:
    'For whoever was given the token (RFC 7662). With `use` one use is burnt, durably, before this answers: of any number of callers as many are told `used` as the lease may be used.',
  body: leaseIntrospectionBody,
  answers: { 200: { means: 'What the token is good for now.', body: leaseIntrospected } },
  refusals: [...RECORDING],
} as const satisfies Operation;

export const ROTATE_LEASE_KEY = {
  id: 'rotateLeaseKey',
  tag: 'Leases',
  summary: 'Sign with the next key',
  description:
    'The next key has been in the key set for as long as others may keep it. For operators of the installation.',
  headers: [COMMAND_KEY],
  body: leaseKeyRotationBody,
  answers: { 200: { means: 'The keys that sign now, and next.', body: leaseKeyRotated } },
  refusals: ['not_authorized', 'lease_key_too_young', ...COMMANDED],
} as const satisfies Operation;

export const GET_KEY_SET = {
  id: 'getLeaseKeySet',
  tag: 'Leases',
  summary: 'Read the keys of lease tokens',
  description: 'Open to everybody. Empty while no token was ever signed.',
  answers: { 200: { means: 'The public keys.', body: keySet } },
  refusals: [],
} as const satisfies Operation;
