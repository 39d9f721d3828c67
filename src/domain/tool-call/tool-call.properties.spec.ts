import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { lineOf } from '../../../test/builders/machine-table.js';
import { CALL_ROWS, type CallTrialRow } from '../../../test/builders/tool-call-examples.js';
import type { CallEvent } from './tool-call.place.js';
import { decideToolCall } from './tool-call.decide.js';
import { evolveToolCall, foldToolCall } from './tool-call.evolve.js';
import { provenNoEffect } from './tool-call.retry.js';
import type { ToolCallState } from './tool-call.state.js';
import { SITUATIONS, situationOf, TOOL_CALL_ANSWERS, TOOL_CALL_EDGES } from './tool-call.transitions.js';

interface Step {
  readonly before: ToolCallState | null;
  readonly event: CallEvent;
  readonly after: ToolCallState;
}

/** Plays the rows one after another against one call; what is refused changes nothing. */
function play(rows: readonly CallTrialRow[]): Step[] {
  const steps: Step[] = [];
  let state: ToolCallState | null = null;
  for (const row of rows) {
    const decided = decideToolCall(state, row.trial.command(state));
    if (!decided.ok) continue;
    for (const event of decided.events) {
      const after = evolveToolCall(state, event);
      steps.push({ before: state, event, after });
      state = after;
    }
  }
  return steps;
}

const proposal = CALL_ROWS.find(({ kind }) => kind === 'propose') as CallTrialRow;

/** From these there is no way on; drawn evenly they would end most sequences early. */
const DEAD_ENDS = new Set(['completed', 'denied', 'failed_for_good', 'handoff_other_finding']);

/** The rows that lead somewhere from here, one group per next situation. */
function waysOn(state: ToolCallState | null, deadEnds: boolean): CallTrialRow[][] {
  const groups = new Map<string, CallTrialRow[]>();
  for (const row of CALL_ROWS) {
    const decided = decideToolCall(state, row.trial.command(state));
    if (!decided.ok) continue;
    const next = situationOf(foldToolCall(state, decided.events));
    if (deadEnds || !DEAD_ENDS.has(next)) groups.set(next, [...(groups.get(next) ?? []), row]);
  }
  return [...groups.values()];
}

/** Evenly: the small numbers that fast-check prefers would always take the same way. */
const draw = fc.noBias(fc.nat({ max: 9_999 }));

/** Rows drawn blindly seldom get past dispatching, so nine of ten are drawn among the ways that are open. */
const playable = fc.array(fc.tuple(draw, draw, draw), { minLength: 1, maxLength: 40, size: 'max' }).map((choices) => {
  const rows: CallTrialRow[] = [proposal];
  let state = play(rows).at(-1)?.after ?? null;
  for (const [way, pick, wild] of choices) {
    const ways = wild % 10 === 0 ? [CALL_ROWS] : waysOn(state, wild % 10 === 1);
    const group = ways[way % ways.length] ?? CALL_ROWS;
    const row = group[pick % group.length] ?? proposal;
    rows.push(row);
    const decided = decideToolCall(state, row.trial.command(state));
    if (decided.ok) state = foldToolCall(state, decided.events);
  }
  return rows;
});

const holdsFor = (check: (steps: Step[], rows: readonly CallTrialRow[]) => void, seed?: number): void =>
  fc.assert(
    fc.property(playable, (rows) => check(play(rows), rows)),
    seed === undefined ? { numRuns: 150 } : { numRuns: 150, seed },
  );

const UNKNOWN_STATUSES = new Set(['result_unknown', 'reconciling']);
const SENDING = new Set(['proposed', 'authorized', 'dispatching', 'dispatched', 'accepted']);

describe('any sequence of commands to a tool call', () => {
  it('takes only edges of the table', () => {
    holdsFor((steps) => {
      for (const { before, event, after } of steps) {
        expect(TOOL_CALL_EDGES[event.type][before?.status ?? 'none']).toBe(after.status);
      }
    });
  });

  it('is answered as the table says, whatever came before', () => {
    holdsFor((steps, rows) => {
      const state = steps.at(-1)?.after ?? null;
      for (const row of rows) {
        if (row.trial.given !== undefined) continue;
        const decided = decideToolCall(state, row.trial.command(state));
        const answers = lineOf(TOOL_CALL_ANSWERS, row);
        expect(decided.ok ? 'allowed' : decided.code).toBe(answers[SITUATIONS.indexOf(situationOf(state))]);
      }
    });
  });

  it('starts to send each attempt at most once', () => {
    holdsFor((steps) => {
      const attempts = steps.flatMap(({ event }) =>
        event.type === 'tool.call.dispatching' ? [event.payload.attempt] : [],
      );
      expect(new Set(attempts).size).toBe(attempts.length);
      expect([...attempts].sort((a, b) => a - b)).toEqual(attempts);
    });
  });

  it('never goes from an unknown result back to where something is sent', () => {
    holdsFor((steps) => {
      const unknown = steps.filter(({ before }) => before !== null && UNKNOWN_STATUSES.has(before.status));
      expect(unknown.filter(({ after }) => SENDING.has(after.status))).toEqual([]);
    });
  });

  it('begins a new attempt only on proof that the last one had no effect', () => {
    holdsFor((steps) => {
      for (const { before, after } of steps) {
        if (before === null || after.attempt === before.attempt) continue;
        expect(after.attempt).toBe(before.attempt + 1);
        expect(provenNoEffect(before)).toBe(true);
      }
    });
  });

  it('keeps what the proposal fixed, the downstream key above all', () => {
    holdsFor((steps) => {
      const fixed = steps.map(({ after }) => [
        after.downstreamKey,
        after.argsDigest,
        after.intentDigest,
        after.capability,
      ]);
      expect(new Set(fixed.map((values) => values.join())).size).toBe(1);
    });
  });

  it('records a result at most once for each attempt', () => {
    holdsFor((steps) => {
      const ends = steps.filter(
        ({ event }) => event.type === 'tool.call.completed' || event.type === 'tool.call.failed',
      );
      const attempts = ends.map(({ after }) => after.attempt);
      expect(new Set(attempts).size).toBe(attempts.length);
    });
  });

  it('states that a call was sent and accepted before it states its result, each at most once an attempt', () => {
    holdsFor((steps) => {
      for (const type of ['tool.call.dispatched', 'tool.call.accepted'] as const) {
        const attempts = steps.filter(({ event }) => event.type === type).map(({ after }) => after.attempt);
        expect(new Set(attempts).size).toBe(attempts.length);
      }
      const direct = steps.filter(
        ({ event }) => event.type === 'tool.call.completed' && event.payload.basis === 'direct',
      );
      expect(direct.filter(({ before }) => before?.status !== 'accepted')).toEqual([]);
    });
  });

  it('folds to the same state whether event by event or all at once', () => {
    holdsFor((steps) => {
      const whole = foldToolCall(
        null,
        steps.map(({ event }) => event),
      );
      expect(whole).toEqual(steps.at(-1)?.after ?? null);
    });
  });

  it('reaches every situation, so that these properties speak of the whole machine', () => {
    const reached = new Set<string>(['none']);
    holdsFor((steps) => {
      for (const { after } of steps) reached.add(situationOf(after));
    }, 3);
    expect(SITUATIONS.filter((situation) => !reached.has(situation))).toEqual([]);
  });
});
