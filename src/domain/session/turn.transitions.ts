import type { ErrorCode } from '../errors/error-codes.js';
import type { PerItem } from '../events/edges.js';
import type { TurnCommand, TurnFact } from './turn.js';
import { TURN_STATUSES, type TurnStatus } from './turn.state.js';

/**
 * The machine of a turn (T1–T15) as data, complete. The code does not read these tables; the spec proves that they agree in
 * every cell. Where the status alone does not say whether a step is open, there is a row for each case.
 */

/** The order of the columns below. */
export const TURN_SITUATIONS = ['none', ...TURN_STATUSES] as const;

const yes = 'allowed';
const tno = 'turn_not_open';
const tao = 'turn_already_open';
const sno = 'step_not_open';
const sao = 'step_already_open';
const unp = 'history_unpaired';
const saf = 'not_at_safe_point';
const dan = 'dangling_reference';
const nul = 'impossible';
// a review may have begun before the calls were answered, or after
const unpYes = 'history_unpaired | allowed';
const unpSao = 'history_unpaired | step_already_open';

type Row = PerItem<typeof TURN_SITUATIONS, 'allowed' | 'impossible' | typeof unpYes | typeof unpSao | ErrorCode>;

/** Columns: none · open, model_active, tools_pending, awaiting_approval, awaiting_plan_review, settled · ended. */
// prettier-ignore
export const TURN_ANSWERS = {
  begin_turn: {
    any:                    [yes,  tao, tao, tao, tao, tao, tao,  yes],
  },
  record_context: {
    any:                    [tno,  yes, yes, yes, yes, yes, yes,  tno],
  },
  begin_step: {
    between_steps:          [tno,  yes, nul, nul, nul, saf, yes,  tno],
    inside_a_step:          [tno,  nul, sao, sao, sao, sao, sao,  tno],
    of_an_unknown_context:  [tno,  dan, nul, nul, nul, saf, dan,  tno],
  },
  stream: {
    any:                    [tno,  sno, yes, sno, sno, sno, sno,  tno],
  },
  finish_message: {
    without_calls:          [tno,  sno, yes, sno, sno, sno, sno,  tno],
    with_calls:             [tno,  sno, yes, sno, sno, sno, sno,  tno],
    incomplete:             [tno,  sno, yes, sno, sno, sno, sno,  tno],
  },
  answer: {
    to_an_open_call:        [tno,  nul, nul, yes, yes, yes, nul,  tno],
    to_another:             [tno,  dan, dan, dan, dan, dan, dan,  tno],
  },
  end_step: {
    completed:              [tno,  nul, saf, unp, unp, unpYes, yes, tno],
    cut_or_failed:          [tno,  nul, yes, unp, unp, unpYes, yes, tno],
    interrupted_or_stopped: [tno,  nul, yes, unp, unp, unpYes, yes, tno],
    between_steps:          [tno,  sno, nul, nul, nul, sno, sno,  tno],
  },
  end_turn: {
    between_steps:          [tno,  yes, nul, nul, nul, saf, yes,  tno],
    inside_a_step:          [tno,  nul, sao, unp, unp, unpSao, sao, tno],
    with_a_governed_call:   [tno,  unp, unp, unp, unp, unp, unp,  tno],
  },
} as const satisfies Readonly<Record<TurnCommand['kind'], Readonly<Record<string, Row>>>>;

type Edges = Readonly<Partial<Record<TurnStatus | 'none', readonly TurnStatus[]>>>;

/** (kind, status) → the statuses that may come next, where the event changes the status. */
export const TURN_EDGES: Readonly<Record<TurnCommand['kind'] | TurnFact['kind'], Edges>> = {
  begin_turn: { none: ['open'], ended: ['open'] },
  record_context: {},
  begin_step: { open: ['model_active'], settled: ['model_active'] },
  stream: {},
  finish_message: { model_active: ['settled', 'tools_pending'] },
  answer: { tools_pending: ['settled'], awaiting_approval: ['settled'] },
  end_step: { model_active: ['settled'] },
  end_turn: { open: ['ended'], settled: ['ended'] },
  call_opened: {},
  call_sent: {},
  call_left: {},
  call_closed: {},
  approval_opened: { tools_pending: ['awaiting_approval'] },
  approval_closed: { awaiting_approval: ['tools_pending'] },
  review_opened: {
    tools_pending: ['awaiting_plan_review'],
    awaiting_approval: ['awaiting_plan_review'],
    settled: ['awaiting_plan_review'],
  },
  review_closed: { awaiting_plan_review: ['tools_pending', 'settled'] },
};
