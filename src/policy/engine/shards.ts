import type { CheckedPolicy } from './policy-set.js';

/**
 * The policies that can have a say about one action: those whose scope names it and all global ones. Every other policy has an
 * action scope that is false for this action, so leaving it out changes neither answer nor reasons; a property test shows it.
 */
export function shardFor(action: string, policies: readonly CheckedPolicy[]): readonly CheckedPolicy[] {
  return policies.filter(({ actions }) => actions === null || actions.includes(action));
}
