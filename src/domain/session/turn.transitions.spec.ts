import { describe, expect, it } from '@jest/globals';
import { decideTurn, evolveTurn, type TurnCommand, type TurnFact } from './turn.js';
import { isDurableWait, isSafePoint, turnStatusOf, type TurnState } from './turn.state.js';
import { TURN_ANSWERS, TURN_EDGES, TURN_SITUATIONS } from './turn.transitions.js';

type Situation = (typeof TURN_SITUATIONS)[number];

const none: readonly string[] = [];
const BLANK: TurnState = {
  runId: 'r',
  turnId: 't',
  phase: 'open',
  stepId: null,
  outcome: null,
  unanswered: none,
  openCalls: none,
  carried: none,
  approvals: none,
  reviews: none,
  contexts: ['known'],
};
const MODEL: TurnState = { ...BLANK, phase: 'model', stepId: 's' };
const TOOLS: TurnState = { ...MODEL, phase: 'tools', unanswered: ['c'] };
const SETTLED: TurnState = { ...BLANK, phase: 'settled' };

/** Every kind of turn that has the status. */
const EXAMPLES: Readonly<Record<Situation, readonly (TurnState | null)[]>> = {
  none: [null],
  open: [BLANK],
  model_active: [MODEL],
  tools_pending: [TOOLS],
  awaiting_approval: [{ ...TOOLS, approvals: ['a'] }],
  awaiting_plan_review: [
    { ...TOOLS, reviews: ['p'] },
    { ...SETTLED, reviews: ['p'] },
    { ...SETTLED, stepId: 's', reviews: ['p'] },
  ],
  settled: [SETTLED, { ...SETTLED, stepId: 's' }],
  ended: [{ ...BLANK, phase: 'ended', outcome: 'completed' }],
};

type Fits = (turn: TurnState) => boolean;
const any: Fits = () => true;
const inStep: Fits = (turn) => turn.stepId !== null;
const between: Fits = (turn) => turn.stepId === null;
const inTools: Fits = (turn) => turn.unanswered.includes('c');

const step = (contextBuildId: string | null): TurnCommand => ({ kind: 'begin_step', stepId: 'n', contextBuildId });
const finish = (calls: readonly string[], isIncomplete = false): TurnCommand => ({
  kind: 'finish_message',
  calls,
  isIncomplete,
});
type Trial = readonly [command: TurnCommand, fits: Fits, given?: (turn: TurnState) => TurnState];

const TRIALS: { readonly [K in keyof typeof TURN_ANSWERS]: Readonly<Record<keyof (typeof TURN_ANSWERS)[K], Trial>> } = {
  begin_turn: { any: [{ kind: 'begin_turn', runId: 'r', turnId: 'n' }, any] },
  record_context: { any: [{ kind: 'record_context', contextBuildId: 'b' }, any] },
  begin_step: {
    between_steps: [step('known'), between],
    inside_a_step: [step(null), inStep],
    of_an_unknown_context: [step('unknown'), between],
  },
  stream: { any: [{ kind: 'stream' }, any] },
  finish_message: {
    without_calls: [finish([]), any],
    with_calls: [finish(['c']), any],
    incomplete: [finish(['c'], true), any],
  },
  answer: {
    to_an_open_call: [{ kind: 'answer', callId: 'c' }, inTools],
    to_another: [{ kind: 'answer', callId: 'other' }, any],
  },
  end_step: {
    completed: [{ kind: 'end_step', outcome: 'completed' }, inStep],
    cut_or_failed: [{ kind: 'end_step', outcome: 'cut' }, inStep],
    interrupted_or_stopped: [{ kind: 'end_step', outcome: 'stopped' }, inStep],
    between_steps: [{ kind: 'end_step', outcome: 'completed' }, between],
  },
  end_turn: {
    between_steps: [{ kind: 'end_turn', outcome: 'completed' }, between],
    inside_a_step: [{ kind: 'end_turn', outcome: 'completed' }, inStep],
    with_a_governed_call: [{ kind: 'end_turn', outcome: 'stopped' }, any, (turn) => ({ ...turn, openCalls: ['g'] })],
  },
};

const ROWS = Object.entries(TRIALS).flatMap(([kind, variants]) =>
  Object.entries(variants as Readonly<Record<string, Trial>>).map(([variant, trial]) => ({ kind, variant, trial })),
);

function examplesFor(column: Situation, [, fits, given]: Trial): readonly (TurnState | null)[] {
  const examples = EXAMPLES[column].filter((turn) => turn === null || turn.phase === 'ended' || fits(turn));
  return examples.map((turn) => (turn === null ? null : (given?.(turn) ?? turn)));
}

function answerIn(column: Situation, trial: Trial): string {
  const answers = examplesFor(column, trial).map((turn) => decideTurn(turn, trial[0]) ?? 'allowed');
  return answers.length === 0 ? 'impossible' : [...new Set(answers)].join(' | ');
}

const statusOf = (turn: TurnState | null): string => (turn === null ? 'none' : turnStatusOf(turn));

const FACTS: readonly TurnFact[] = [
  { kind: 'call_opened', id: 'x' },
  { kind: 'call_sent', id: 'x' },
  { kind: 'call_left', id: 'x' },
  { kind: 'call_closed', id: 'x' },
  { kind: 'approval_opened', id: 'a' },
  { kind: 'approval_closed', id: 'a' },
  { kind: 'review_opened', id: 'p' },
  { kind: 'review_closed', id: 'p' },
];

function edgesTaken(): readonly string[] {
  const taken = new Set<string>();
  const take = (turn: TurnState | null, event: TurnCommand | TurnFact): void => {
    const [from, next] = [statusOf(turn), statusOf(evolveTurn(turn, event))];
    if (from !== next) taken.add(`${from} --${event.kind}--> ${next}`);
  };
  for (const column of TURN_SITUATIONS) {
    for (const { trial } of ROWS) {
      for (const turn of examplesFor(column, trial)) if (decideTurn(turn, trial[0]) === null) take(turn, trial[0]);
    }
    for (const turn of EXAMPLES[column]) for (const fact of FACTS) take(turn, fact);
  }
  return [...taken].sort();
}

describe('the tables of the turn machine (T1 to T15)', () => {
  it.each(ROWS)('say of $kind ($variant) in every status exactly what the code says', ({ kind, variant, trial }) => {
    const table = TURN_ANSWERS as Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
    expect(TURN_SITUATIONS.map((column) => answerIn(column, trial))).toEqual(table[kind]?.[variant]);
  });

  it('hold exactly the edges that the commands and the facts take', () => {
    const edges = Object.entries(TURN_EDGES).flatMap(([kind, row]) =>
      Object.entries(row).flatMap(([from, nexts]) => nexts.map((next) => `${from} --${kind}--> ${next}`)),
    );
    expect(edgesTaken()).toEqual(edges.sort());
  });

  it('lead nowhere from an end but to a new turn', () => {
    const leaving = edgesTaken().filter((edge) => edge.startsWith('ended '));
    expect(leaving).toEqual(['ended --begin_turn--> open']);
  });

  it('a turn is settled once its last open call is answered, and not before (T10)', () => {
    const two: TurnState = { ...TOOLS, unanswered: ['c', 'd'] };
    const one = evolveTurn(two, { kind: 'answer', callId: 'c' });
    expect([statusOf(one), statusOf(evolveTurn(one, { kind: 'answer', callId: 'd' }))]).toEqual([
      'tools_pending',
      'settled',
    ]);
  });

  it('a turn goes back after a plan review to where it was (T9)', () => {
    const ends = EXAMPLES.awaiting_plan_review.map((turn) =>
      statusOf(evolveTurn(turn, { kind: 'review_closed', id: 'p' })),
    );
    expect(ends).toEqual(['tools_pending', 'settled', 'settled']);
  });
});

describe('waits and safe points of a turn', () => {
  it.each([
    ['an open governed call', { ...TOOLS, openCalls: ['g'] }, 'running', true],
    ['a pending approval', { ...TOOLS, approvals: ['a'] }, 'running', true],
    ['a plan review', { ...SETTLED, reviews: ['p'] }, 'running', true],
    ['a suspended run', SETTLED, 'suspended', true],
    ['a stopping run', MODEL, 'stopping', true],
    ['a model call alone', TOOLS, 'running', false],
    ['a stream', MODEL, 'interrupted', false],
  ])('%s makes a durable wait or does not [U-05]', (_, turn, status, waits) => {
    expect(isDurableWait(turn, status)).toBe(waits);
  });

  it.each([
    ['no turn', null, true],
    ['open', BLANK, true],
    ['streaming', MODEL, false],
    ['tools running', TOOLS, false],
    ['a tool that was sent', { ...TOOLS, openCalls: ['g'], carried: ['g'] }, false],
    ['a call that is being found out', { ...TOOLS, openCalls: ['g'] }, true],
    ['waiting for people', { ...TOOLS, approvals: ['a'] }, true],
    ['settled', SETTLED, true],
    ['ended', { ...BLANK, phase: 'ended' as const }, true],
  ])('%s is a safe point or is not [A-101, A-102]', (_, turn, isSafe) => {
    expect(isSafePoint(turn, 'suspending')).toBe(isSafe);
  });
});
