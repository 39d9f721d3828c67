import type {
  LeaseIntrospectionBody,
  LeaseRenewalBody,
  LeaseRevocationBody,
  LeaseSelectionBody,
} from '../../client/contract/leases.js';

const revocation: LeaseRevocationBody = { reason: 'the environment is being rebuilt' };
const selection: LeaseSelectionBody = { by: 'agent', value: 'support-agent', reason: 'the agent misbehaves' };
const renewal: LeaseRenewalBody = { ttlSeconds: 60 };
const introspection: LeaseIntrospectionBody = { token: 'eyJhbGciOiJFZDI1NTE5In0.eyJqdGkiOiJsc2UifQ.c2ln', use: true };

export const LEASE_EXAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  LeaseRevocation: [revocation],
  LeaseSelection: [selection],
  LeaseRenewal: [renewal],
  LeaseIntrospection: [introspection],
  LeaseKeyRotation: [{}],
};
