import type { ErrorCode } from '../errors/error-codes.js';
import type { EventTypeIn } from '../events/catalogue.js';
import { stay, to, type Edges, type PerItem } from '../events/edges.js';
import type { OutcomeCommandKind } from './outcome.commands.js';
import { OUTCOME_STATUSES, type OutcomeStatus } from './outcome.state.js';

/**
 * The machine of state-machines §5 as data, complete. `decide` and `evolve` do not read these tables; the spec proves
 * that they agree with them in every cell. `none` is `not_observed`: nothing has been opened.
 */

/** (status, event type) → the next status. Opening again is for a later attempt of the call. */
export const OUTCOME_EDGES: Readonly<Record<EventTypeIn<'outcome'>, Edges<OutcomeStatus>>> = {
  'outcome.verification_opened': to(
    'pending',
    'none',
    'pending',
    'confirmed_success',
    'confirmed_failure',
    'inconclusive',
  ),
  'feedback.received': {
    ...stay('pending', 'confirmed_success', 'confirmed_failure'),
    ...to<OutcomeStatus>('pending', 'inconclusive'),
  },
  'feedback.rejected': stay('pending', 'confirmed_success', 'confirmed_failure', 'inconclusive'),
  'feedback.success_criteria_met': to('confirmed_success', 'pending'),
  'feedback.success_criteria_failed': to('confirmed_failure', 'pending', 'inconclusive'),
  'feedback.inconclusive': to('inconclusive', 'pending'),
  'feedback.contradiction_recorded': to('pending', 'confirmed_success', 'confirmed_failure'),
};

/** The order of the columns below. */
export const OUTCOME_SITUATIONS = ['none', ...OUTCOME_STATUSES] as const;

const yes = 'allowed';
const abs = 'outcome_not_open';
const src = 'feedback_source_missing';
const evi = 'feedback_evidence_missing';
const cri = 'feedback_criteria_unknown';
const old = 'version_stale';

type Row = PerItem<typeof OUTCOME_SITUATIONS, 'allowed' | ErrorCode>;

/**
 * (command, status) → allowed, or the code of the refusal; a row per kind of content. Allowed may mean that nothing is
 * left to record. Columns: none · pending · confirmed_success confirmed_failure · inconclusive.
 */
// prettier-ignore
export const OUTCOME_ANSWERS = {
  open: {
    first_attempt:           [yes,  yes,  yes, yes,  yes],
    later_attempt:           [yes,  yes,  yes, yes,  yes],
  },
  take_feedback: {
    met:                     [abs,  yes,  yes, yes,  yes],
    met_in_part:             [abs,  yes,  yes, yes,  yes],
    failed:                  [abs,  yes,  yes, yes,  yes],
    inconclusive:            [abs,  yes,  yes, yes,  yes],
    beside_the_point:        [abs,  yes,  yes, yes,  yes],
    met_by_no_authority:     [abs,  yes,  yes, src,  yes],
    failed_by_no_authority:  [abs,  yes,  src, yes,  yes],
    unlisted_source:         [abs,  src,  src, src,  src],
    foreign_kind:            [abs,  src,  src, src,  src],
    no_evidence:             [abs,  evi,  evi, evi,  evi],
    no_digest:               [abs,  evi,  evi, evi,  evi],
    other_criteria:          [abs,  cri,  cri, cri,  cri],
    other_criteria_version:  [abs,  cri,  cri, cri,  cri],
  },
  take_finding: {
    met:                     [abs,  yes,  yes, yes,  yes],
    failed:                  [abs,  yes,  yes, yes,  yes],
    inconclusive:            [abs,  yes,  yes, yes,  yes],
  },
  reject: {
    any:                     [abs,  yes,  yes, yes,  yes],
  },
  expire: {
    at_the_deadline:         [abs,  yes,  abs, abs,  abs],
    too_early:               [abs,  old,  abs, abs,  abs],
  },
  note_no_effect: {
    any:                     [abs,  yes,  yes, yes,  yes],
  },
} as const satisfies Readonly<Record<OutcomeCommandKind, Readonly<Record<string, Row>>>>;
