import { describe, expect, it } from '@jest/globals';
import type { CheckedPolicy } from './policy-set.js';
import { shardFor } from './shards.js';

function policy(id: string, actions: readonly string[] | null): CheckedPolicy {
  return {
    annotations: { id, effect: 'permit', reason: null, ask: null, unattended: null, lease: null, limits: [] },
    text: '',
    actions,
  };
}

describe('the shard of an action', () => {
  const policies = [
    policy('global', null),
    policy('a', ['a']),
    policy('b', ['b']),
    policy('both', ['a', 'b']),
    policy('none', []),
  ];

  it.each([
    ['a', ['global', 'a', 'both']],
    ['b', ['global', 'b', 'both']],
    ['c', ['global']],
  ])('for %s holds what names it and what is global', (action, ids) => {
    expect(shardFor(action, policies).map(({ annotations }) => annotations.id)).toEqual(ids);
  });
});
