import { describe, expect, it } from '@jest/globals';
import { LEASE_ROWS, leaseIn } from '../../../test/builders/lease-examples.js';
import { answersOf, edgesOf, edgesTaken, lineOf, type Machine } from '../../../test/builders/machine-table.js';
import { CATALOGUE } from '../events/catalogue.js';
import type { LeaseCommand } from './lease.commands.js';
import { decideLease } from './lease.decide.js';
import { evolveLease } from './lease.evolve.js';
import type { LeaseState, LeaseStatus } from './lease.state.js';
import { LEASE_ANSWERS, LEASE_EDGES, LEASE_SITUATIONS } from './lease.transitions.js';

const machineOf = (withUpstream: boolean): Machine<LeaseState, LeaseCommand> => ({
  decide: decideLease,
  evolve: evolveLease,
  columns: LEASE_SITUATIONS,
  examplesOf: (column) => [column === 'none' ? null : leaseIn(column as LeaseStatus, withUpstream)],
});

const table = (which: 'plain' | 'upstream') =>
  Object.fromEntries(Object.entries(LEASE_EDGES).map(([type, edges]) => [type, edges[which]]));

describe('the tables of the lease machine', () => {
  it.each(LEASE_ROWS)(
    'say of $kind ($variant) in every status exactly what the code says [L1, L2, L3, L4, L5, L6, L7, L8]',
    (row) => {
      expect(answersOf(machineOf(false), row)).toEqual(lineOf(LEASE_ANSWERS, row));
    },
  );

  it('hold exactly the edges that the commands take and that the fold follows', () => {
    expect(edgesTaken(machineOf(false), LEASE_ROWS)).toEqual(edgesOf(table('plain')));
  });

  it('lead the end of a lease that a provider made a credential for over its end there [X23]', () => {
    const ends = (edges: readonly string[]) =>
      edges.filter((edge) => /^(issued|active) /.test(edge) && edge.includes('> rev'));
    const live = edgesTaken({ ...machineOf(true), columns: ['issued', 'active'] }, LEASE_ROWS);
    expect(ends(live)).toEqual(ends(edgesOf(table('upstream'))));
    expect(ends(live).every((edge) => edge.endsWith('revoking'))).toBe(true);
  });

  it('have a row for every event type of the stream, which nobody but the authority on leases writes [P-06]', () => {
    const registered = Object.entries(CATALOGUE).filter(([, definition]) => definition.stream === 'lease');
    expect(Object.keys(LEASE_EDGES).sort()).toEqual(registered.map(([type]) => type).sort());
    expect(new Set(registered.flatMap(([, { producers }]) => producers))).toEqual(new Set(['lease-authority']));
  });

  it('give what was released, has expired, was revoked or refused no way out', () => {
    const ends = ['released', 'expired', 'revoked', 'refused'];
    expect(edgesOf(table('plain')).filter((edge) => ends.some((end) => edge.startsWith(`${end} `)))).toEqual([]);
  });
});
