import { describe, expect, it } from '@jest/globals';
import { APPROVAL_ROWS, approvalIn } from '../../../test/builders/approval-examples.js';
import { answersOf, edgesOf, edgesTaken, lineOf, type Machine } from '../../../test/builders/machine-table.js';
import { CATALOGUE } from '../events/catalogue.js';
import type { ApprovalCommand } from './approval.commands.js';
import { decideApproval } from './approval.decide.js';
import { evolveApproval } from './approval.evolve.js';
import type { ApprovalState, ApprovalStatus } from './approval.state.js';
import { APPROVAL_ANSWERS, APPROVAL_EDGES, APPROVAL_SITUATIONS } from './approval.transitions.js';

const machine: Machine<ApprovalState, ApprovalCommand> = {
  decide: decideApproval,
  evolve: evolveApproval,
  columns: APPROVAL_SITUATIONS,
  examplesOf: (column) => [column === 'none' ? null : approvalIn(column as ApprovalStatus)],
};

describe('the tables of the approval machine', () => {
  it.each(APPROVAL_ROWS)('say of $kind ($variant) in every status exactly what the code says', (row) => {
    expect(answersOf(machine, row)).toEqual(lineOf(APPROVAL_ANSWERS, row));
  });

  it('hold exactly the edges that the commands take and that the fold follows', () => {
    expect(edgesTaken(machine, APPROVAL_ROWS)).toEqual(edgesOf(APPROVAL_EDGES));
  });

  it('have a row for every event type of the stream', () => {
    const registered = Object.entries(CATALOGUE).filter(([, definition]) => definition.stream === 'approval');
    expect(Object.keys(APPROVAL_EDGES).sort()).toEqual(registered.map(([type]) => type).sort());
  });

  it('give an approval no way out of its five ends', () => {
    const ends = ['consumed', 'denied', 'expired', 'invalidated', 'closed'];
    const leaving = edgesOf(APPROVAL_EDGES).filter((edge) =>
      ends.some((end) => edge.startsWith(`${end} `) && !edge.endsWith(`> ${end}`)),
    );
    expect(leaving).toEqual([]);
  });
});
