import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { StoreReader } from '../../storage/readers/store-reader.js';
import { openApprovalsOf } from '../../storage/units/open-approvals.js';

/**
 * Refuses a deputy of whom it is known that it asks questions itself: an agent with undecided ones. An agent's credential
 * could never use the right; saying so now spares the lender from waiting for it.
 *
 * @throws CountersignError `delegate_not_allowed`
 */
export async function mustBeAPerson(read: StoreReader, tenant: string, to: string): Promise<void> {
  if ((await read.counter(tenant, openApprovalsOf(to))) === 0) return;
  throw new CountersignError('delegate_not_allowed', 'this is an agent: a right is lent to a person', {
    pointer: '/to',
  });
}
