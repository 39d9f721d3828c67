import type { Guard } from '../storage/unit.js';

/** One policy set for the whole installation. */
export const POLICY_SCOPE = '*';

/** The policy set that decided is still the one in force. */
export function policyIsCurrent(revision: string): Guard {
  return {
    name: 'policy',
    table: 'policy_active',
    where: { scope: POLICY_SCOPE, revision: { oneOf: [revision] } },
    expect: 'present',
  };
}
