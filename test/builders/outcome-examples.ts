import type { DomainEvent } from '../../src/domain/events/catalogue.js';
import type {
  Evidence,
  Feedback,
  OutcomeCommand,
  OutcomeCommandKind,
  SourceRights,
} from '../../src/domain/outcome/outcome.commands.js';
import { foldOutcome } from '../../src/domain/outcome/outcome.evolve.js';
import type { OutcomeState, OutcomeStatus } from '../../src/domain/outcome/outcome.state.js';
import type { OUTCOME_ANSWERS } from '../../src/domain/outcome/outcome.transitions.js';
import { rowsOf, type Trial, type TrialRow } from './machine-table.js';

/** A refund that is there when the provider says so and the statement shows it; opened at 10:00 for one hour. */

export const clock = (time: string): string => `2031-01-01T${time}.000Z`;

export const opening = (attempt = 1) =>
  ({
    criteriaId: 'refund_settled',
    criteriaVersion: '1',
    needs: ['provider_status', 'statement_line'],
    withinMs: 3_600_000,
    attempt,
  }) as const;

export const evidence = (kind: string, ref = `${kind}-1`): Evidence => ({
  kind,
  ref,
  digest: `sha256:${'a'.repeat(64)}`,
});

export const BOTH = [evidence('provider_status'), evidence('statement_line')];

export const feedbackWith = (more: Partial<Feedback> = {}): Feedback => ({
  feedbackId: 'fb-1',
  source: 'psp',
  verdict: 'met',
  criteriaId: 'refund_settled',
  criteriaVersion: '1',
  evidence: BOTH,
  verifiedAt: clock('10:30:00'),
  note: null,
  ...more,
});

export const RIGHTS: SourceRights = {
  kinds: ['provider_status', 'statement_line', 'hearsay'],
  authoritative: true,
};

export const take = (
  more: Partial<Feedback> = {},
  rights: SourceRights | null = RIGHTS,
  now = clock('10:30:00'),
): OutcomeCommand => ({ kind: 'take_feedback', feedback: feedbackWith(more), rights, now });

export const OPENED: DomainEvent = {
  type: 'outcome.verification_opened',
  payload: { ...opening(), deadline: clock('11:00:00') },
};

const verdict = {
  criteriaId: 'refund_settled',
  criteriaVersion: '1',
  source: 'psp',
  evidenceRefs: [],
  verifiedAt: clock('10:30:00'),
};

export const OUTCOME_HISTORIES: Readonly<Record<OutcomeStatus, readonly DomainEvent[]>> = {
  pending: [OPENED],
  confirmed_success: [
    OPENED,
    { type: 'feedback.success_criteria_met', payload: { ...verdict, feedbackIds: ['fb-0'] } },
  ],
  confirmed_failure: [OPENED, { type: 'feedback.success_criteria_failed', payload: { ...verdict, basis: 'source' } }],
  inconclusive: [OPENED, { type: 'feedback.inconclusive', payload: { reason: 'deadline_passed' } }],
};

export function outcomeIn(status: OutcomeStatus): OutcomeState {
  const state = foldOutcome(null, OUTCOME_HISTORIES[status]);
  if (state === null) throw new Error(`no history for ${status}`);
  return state;
}

type OutcomeTrial = Trial<OutcomeState, OutcomeCommand>;
const always = (command: OutcomeCommand): OutcomeTrial => ({ command: () => command });
const finding = (word: Feedback['verdict']): OutcomeTrial =>
  always({ kind: 'take_finding', feedback: feedbackWith({ source: 'olga', verdict: word }), now: clock('10:40:00') });
const NO_AUTHORITY: SourceRights = { ...RIGHTS, authoritative: false };

type Trials = {
  readonly [K in OutcomeCommandKind]: { readonly [V in keyof (typeof OUTCOME_ANSWERS)[K]]: OutcomeTrial };
};

/** A command for every row of the table. */
const TRIALS: Trials = {
  open: {
    first_attempt: always({ kind: 'open', opening: opening(), now: clock('10:00:00') }),
    later_attempt: always({ kind: 'open', opening: opening(2), now: clock('10:50:00') }),
  },
  take_feedback: {
    met: always(take()),
    met_in_part: always(take({ evidence: [evidence('provider_status')] })),
    failed: always(take({ verdict: 'failed', evidence: [evidence('provider_status')] })),
    inconclusive: always(take({ verdict: 'inconclusive' })),
    beside_the_point: always(take({ verdict: 'failed', evidence: [evidence('hearsay')] })),
    met_by_no_authority: always(take({}, NO_AUTHORITY)),
    failed_by_no_authority: always(take({ verdict: 'failed' }, NO_AUTHORITY)),
    unlisted_source: always(take({}, null)),
    foreign_kind: always(take({ evidence: [...BOTH, evidence('gossip')] })),
    no_evidence: always(take({ evidence: [] })),
    no_digest: always(take({ evidence: [{ ...evidence('provider_status'), digest: null }] })),
    other_criteria: always(take({ criteriaId: 'refund_sent' })),
    other_criteria_version: always(take({ criteriaVersion: '2' })),
  },
  take_finding: { met: finding('met'), failed: finding('failed'), inconclusive: finding('inconclusive') },
  reject: {
    any: always({ kind: 'reject', rejection: { source: 'mallory', code: 'feedback_source_missing', message: 'no' } }),
  },
  expire: {
    at_the_deadline: always({ kind: 'expire', now: clock('11:00:00') }),
    too_early: always({ kind: 'expire', now: clock('10:59:59') }),
  },
  note_no_effect: { any: always({ kind: 'note_no_effect', now: clock('10:20:00') }) },
};

export const OUTCOME_ROWS: readonly TrialRow<OutcomeState, OutcomeCommand>[] = rowsOf(TRIALS);
