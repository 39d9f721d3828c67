import { describe, expect, it } from '@jest/globals';
import { answersOf, edgesOf, edgesTaken, lineOf, type Machine } from '../../../test/builders/machine-table.js';
import { RUN_ROWS, runIn } from '../../../test/builders/run-examples.js';
import { CATALOGUE } from '../events/catalogue.js';
import type { RunCommand } from './run.commands.js';
import { decideRun } from './run.decide.js';
import { evolveRun } from './run.evolve.js';
import { RUN_TERMINAL_STATUSES, type RunState, type RunStatus } from './run.state.js';
import { RUN_ANSWERS, RUN_EDGES, RUN_SITUATIONS } from './run.transitions.js';

const machine: Machine<RunState, RunCommand> = {
  decide: decideRun,
  evolve: evolveRun,
  columns: RUN_SITUATIONS,
  examplesOf: (column) => [column === 'none' ? null : runIn(column as RunStatus)],
};

describe('the tables of the run machine', () => {
  it.each(RUN_ROWS)('say of $kind ($variant) in every status exactly what the code says', (row) => {
    expect(answersOf(machine, row)).toEqual(lineOf(RUN_ANSWERS, row));
  });

  it('hold exactly the edges that the commands take and that the fold follows', () => {
    expect(edgesTaken(machine, RUN_ROWS)).toEqual(edgesOf(RUN_EDGES));
  });

  it('have a row for every event type of the stream', () => {
    const registered = Object.entries(CATALOGUE).filter(([, definition]) => definition.stream === 'run');
    expect(Object.keys(RUN_EDGES).sort()).toEqual(registered.map(([type]) => type).sort());
  });

  it('give a run no way out of its five ends', () => {
    const leaving = edgesOf(RUN_EDGES).filter((edge) =>
      RUN_TERMINAL_STATUSES.some((end) => edge.startsWith(`${end} `) && !edge.endsWith(` ${end}`)),
    );
    expect(leaving).toEqual([]);
  });

  it('record nothing in an ended run but the late end of a helper', () => {
    const after = Object.entries(RUN_EDGES).filter(([, row]) => RUN_TERMINAL_STATUSES.some((end) => end in row));
    expect(after.map(([type]) => type)).toEqual(['subagent.late_result']);
  });

  it('bring a run that is being stopped nowhere but to an end', () => {
    const leaving = edgesOf(RUN_EDGES).filter((edge) => edge.startsWith('stopping '));
    expect(leaving).toEqual([
      'stopping --artifact.created--> stopping',
      'stopping --model.cancelled--> stopping',
      'stopping --run.handed_off--> handed_off',
      'stopping --run.marked_not_resumable--> ended_unrecorded',
      'stopping --run.stopped--> stopped',
      'stopping --subagent.completed--> stopping',
      'stopping --subagent.failed--> stopping',
    ]);
  });
});
