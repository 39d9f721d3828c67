import { describe, expect, it } from '@jest/globals';
import { answersOf, edgesOf, edgesTaken, lineOf, type Machine } from '../../../test/builders/machine-table.js';
import { OUTCOME_ROWS, outcomeIn } from '../../../test/builders/outcome-examples.js';
import { CATALOGUE } from '../events/catalogue.js';
import type { OutcomeCommand } from './outcome.commands.js';
import { decideOutcome } from './outcome.decide.js';
import { evolveOutcome } from './outcome.evolve.js';
import type { OutcomeState, OutcomeStatus } from './outcome.state.js';
import { OUTCOME_ANSWERS, OUTCOME_EDGES, OUTCOME_SITUATIONS } from './outcome.transitions.js';

const machine: Machine<OutcomeState, OutcomeCommand> = {
  decide: decideOutcome,
  evolve: evolveOutcome,
  columns: OUTCOME_SITUATIONS,
  examplesOf: (column) => [column === 'none' ? null : outcomeIn(column as OutcomeStatus)],
};

describe('the tables of the outcome machine', () => {
  it.each(OUTCOME_ROWS)('say of $kind ($variant) in every status exactly what the code says', (row) => {
    expect(answersOf(machine, row)).toEqual(lineOf(OUTCOME_ANSWERS, row));
  });

  it('hold exactly the edges that the commands take and that the fold follows', () => {
    expect(edgesTaken(machine, OUTCOME_ROWS)).toEqual(edgesOf(OUTCOME_EDGES));
  });

  it('have a row for every event type of the stream', () => {
    const registered = Object.entries(CATALOGUE).filter(([, definition]) => definition.stream === 'outcome');
    expect(Object.keys(OUTCOME_EDGES).sort()).toEqual(registered.map(([type]) => type).sort());
  });

  it('let nobody but the intake of feedback say what the world shows', () => {
    const producers = Object.values(CATALOGUE).flatMap((definition) =>
      definition.stream === 'outcome' ? definition.producers : [],
    );
    expect(new Set(producers)).toEqual(new Set(['feedback-intake']));
  });
});
