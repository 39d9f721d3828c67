import { describe, expect, it } from '@jest/globals';
import { answersOf, edgesOf, edgesTaken, lineOf, type Machine } from '../../../test/builders/machine-table.js';
import { CALL_ROWS, callsIn } from '../../../test/builders/tool-call-examples.js';
import { CATALOGUE } from '../events/catalogue.js';
import type { ToolCallCommand } from './tool-call.commands.js';
import { decideToolCall } from './tool-call.decide.js';
import { evolveToolCall } from './tool-call.evolve.js';
import { TERMINAL_STATUSES, TOOL_CALL_STATUSES, type ToolCallState, type ToolCallStatus } from './tool-call.state.js';
import {
  SITUATIONS,
  situationOf,
  TOOL_CALL_ANSWERS,
  TOOL_CALL_EDGES,
  type Situation,
} from './tool-call.transitions.js';

type From = ToolCallStatus | 'none';

const machine: Machine<ToolCallState, ToolCallCommand> = {
  decide: decideToolCall,
  evolve: evolveToolCall,
  columns: SITUATIONS,
  examplesOf: (column) => callsIn(column as Situation),
};

describe('the tables of the tool call machine', () => {
  it.each(CALL_ROWS)('say of $kind ($variant) in every situation exactly what the code says', (row) => {
    expect(answersOf(machine, row)).toEqual(lineOf(TOOL_CALL_ANSWERS, row));
  });

  it('hold exactly the edges that the commands take and that the fold follows', () => {
    expect(edgesTaken(machine, CALL_ROWS)).toEqual(edgesOf(TOOL_CALL_EDGES));
  });

  it('have a row for every event type of the stream', () => {
    const registered = Object.entries(CATALOGUE).filter(([, definition]) => definition.stream === 'call');
    expect(Object.keys(TOOL_CALL_EDGES).sort()).toEqual(registered.map(([type]) => type).sort());
  });

  it('have a column for every status, and every example lies in its column', () => {
    const statuses = new Set(SITUATIONS.flatMap((column) => callsIn(column).map((state) => state?.status ?? 'none')));
    expect([...statuses].sort()).toEqual(['none', ...TOOL_CALL_STATUSES].sort());
    for (const column of SITUATIONS) expect(new Set(callsIn(column).map(situationOf))).toEqual(new Set([column]));
  });
});

describe('the graph of the tool call machine', () => {
  const edges = Object.entries(TOOL_CALL_EDGES).flatMap(([type, row]) =>
    Object.entries(row).map(([from, next]) => ({ type, from: from as From, next })),
  );

  /** Everything that can be reached from these statuses over the edges that pass the filter. */
  function reachable(starts: readonly From[], passes: (type: string) => boolean): Set<From> {
    const reached = new Set<From>(starts);
    for (let grown = true; grown;) {
      const before = reached.size;
      for (const { type, from, next } of edges) if (passes(type) && reached.has(from)) reached.add(next);
      grown = reached.size > before;
    }
    return reached;
  }

  it('has no way from an unknown result back to sending but an accepted retry', () => {
    const after = reachable(['result_unknown', 'reconciling'], (type) => type !== 'tool.call.retry_accepted');
    expect([...after].sort()).toEqual(['completed', 'failed', 'manual_handoff', 'reconciling', 'result_unknown']);
  });

  it('accepts a retry only from the three statuses that can prove that nothing happened', () => {
    const sources = edges.filter(({ type }) => type === 'tool.call.retry_accepted').map(({ from }) => from);
    expect(sources.sort()).toEqual(['failed', 'manual_handoff', 'not_executed']);
  });

  it('changes a terminal status by nothing else than an accepted retry', () => {
    const terminal = new Set<string>(TERMINAL_STATUSES);
    const leaving = edges.filter(({ from, next }) => terminal.has(from) && next !== from).map(({ type }) => type);
    expect(new Set(leaving)).toEqual(new Set(['tool.call.retry_accepted']));
  });

  it('sends from authorized alone, and never goes back from dispatching to authorized', () => {
    expect(TOOL_CALL_EDGES['tool.call.dispatching']).toEqual({ authorized: 'dispatching' });
    expect(TOOL_CALL_EDGES['capability.authorized']).toEqual({ proposed: 'authorized' });
  });

  it('lets every status be reached from a proposal', () => {
    expect([...reachable(['none'], () => true)].sort()).toEqual(['none', ...TOOL_CALL_STATUSES].sort());
  });
});
