import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RIGHTS, clock, evidence, opening, outcomeIn, take } from '../../../test/builders/outcome-examples.js';
import type { DomainEvent } from '../events/catalogue.js';
import type { OutcomeCommand } from './outcome.commands.js';
import { decideOutcome } from './outcome.decide.js';
import { evolveOutcome, foldOutcome } from './outcome.evolve.js';
import type { OutcomeState } from './outcome.state.js';
import { OUTCOME_EDGES } from './outcome.transitions.js';

interface Step {
  readonly before: OutcomeState;
  readonly command: OutcomeCommand;
  readonly event: DomainEvent;
  readonly after: OutcomeState;
}

const verdict = fc.constantFrom('met' as const, 'met' as const, 'failed' as const, 'inconclusive' as const);
const kinds = fc.uniqueArray(fc.constantFrom('provider_status', 'statement_line', 'hearsay', 'gossip'), {
  maxLength: 3,
});
const rights = fc.constantFrom(RIGHTS, { ...RIGHTS, authoritative: false }, null);
const now = fc.constantFrom('10:00:00', '10:30:00', '10:59:59', '11:00:00', '12:30:00').map(clock);

const command: fc.Arbitrary<OutcomeCommand> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(fc.constantFrom('fb-1', 'fb-2', 'fb-3'), verdict, kinds, rights, now)
      .map(([feedbackId, word, shown, who, when]) =>
        take({ feedbackId, verdict: word, evidence: shown.map((kind) => evidence(kind)) }, who, when),
      ),
  },
  { weight: 2, arbitrary: now.map((when) => ({ kind: 'expire' as const, now: when })) },
  { weight: 1, arbitrary: now.map((when) => ({ kind: 'note_no_effect' as const, now: when })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(1, 2, 3), now)
      .map(([attempt, when]) => ({ kind: 'open' as const, opening: opening(attempt), now: when })),
  },
);

function play(commands: readonly OutcomeCommand[]): Step[] {
  const steps: Step[] = [];
  let state = outcomeIn('pending');
  for (const next of commands) {
    const decided = decideOutcome(state, next);
    for (const event of decided.ok ? decided.events : []) {
      const after = evolveOutcome(state, event);
      steps.push({ before: state, command: next, event, after });
      state = after;
    }
  }
  return steps;
}

const holdsFor = (check: (steps: Step[]) => void): void =>
  fc.assert(
    fc.property(fc.array(command, { maxLength: 25, size: 'max' }), (commands) => check(play(commands))),
    { numRuns: 500 },
  );

describe('any sequence of commands to an outcome', () => {
  it('takes only edges of the table', () => {
    holdsFor((steps) => {
      const outside = steps.filter(
        ({ before, event, after }) =>
          (OUTCOME_EDGES as Record<string, Record<string, string>>)[event.type]?.[before.status] !== after.status,
      );
      expect(outside).toEqual([]);
    });
  });

  it('confirms a success only when eligible sources have shown every needed kind since the last doubt', () => {
    holdsFor((steps) => {
      const shown = new Set<string>();
      for (const { command: asked, event } of steps) {
        const starts = ['outcome.verification_opened', 'feedback.contradiction_recorded'];
        if (starts.includes(event.type)) shown.clear();
        if (event.type === 'feedback.received' && asked.kind === 'take_feedback' && event.payload.verdict === 'met') {
          expect(asked.rights).not.toBeNull();
          for (const { kind } of asked.feedback.evidence) shown.add(kind);
        }
        if (event.type !== 'feedback.success_criteria_met') continue;
        expect([...shown]).toEqual(expect.arrayContaining(['provider_status', 'statement_line']));
      }
    });
  });

  it('never leaves a confirmation in silence: it takes a contradiction or a later attempt', () => {
    holdsFor((steps) => {
      const leaving = steps.filter(
        ({ before, after }) => before.status.startsWith('confirmed') && before.status !== after.status,
      );
      const ways = ['feedback.contradiction_recorded', 'outcome.verification_opened'];
      expect(leaving.filter(({ event }) => !ways.includes(event.type))).toEqual([]);
    });
  });

  it('folds from its events to the same state', () => {
    holdsFor((steps) => {
      const folded = foldOutcome(
        outcomeIn('pending'),
        steps.map(({ event }) => event),
      );
      expect(folded).toEqual(steps.at(-1)?.after ?? outcomeIn('pending'));
    });
  });
});
