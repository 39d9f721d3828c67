import { describe, expect, it } from '@jest/globals';
import { historyOf, leaseIn } from '../../../test/builders/lease-examples.js';
import { foldLease } from '../../domain/lease/lease.evolve.js';
import { LEASE_STATUSES } from '../../domain/lease/lease.state.js';
import { TABLE_COLUMNS } from './columns.js';
import { leaseFacts, leaseRow, leaseState } from './lease.row.js';

const FACTS = {
  lease_id: 'lse_1',
  tenant: 'acme',
  tool_call_id: 'call_1',
  run_id: 'run_1',
  session_id: 'run_1',
  correlation_id: 'call_1',
  approval_id: null,
  policy_decision_id: 'dec_1',
  version: 1,
  last_event_id: 'evt_1',
  created_at: '2031-01-01T10:00:00.000Z',
  updated_at: '2031-01-01T10:00:00.000Z',
};

describe('the row of a lease', () => {
  it.each(LEASE_STATUSES)('that is %s says what folding its events says, and nothing more', (status) => {
    for (const withUpstream of [false, true]) {
      const state = leaseIn(status, withUpstream);
      const row = leaseRow(FACTS, state);
      expect(leaseState(row)).toEqual(foldLease(null, historyOf(status, withUpstream)));
      expect(leaseFacts(row)).toEqual(FACTS);
      expect(Object.keys(row).toSorted()).toEqual(Object.keys(TABLE_COLUMNS.leases).toSorted());
    }
  });
});
