import type { ErrorCode } from '../errors/error-codes.js';
import type { EventTypeIn } from '../events/catalogue.js';
import { stay, to, type Edges, type PerItem } from '../events/edges.js';
import type { RunCommandKind } from './run.commands.js';
import { RUN_STATUSES, RUN_TERMINAL_STATUSES, type RunStatus } from './run.state.js';

/**
 * The machine of state-machines §1 as decision 20 leaves it, as data, complete. `decide` and `evolve` do not read these
 * tables; the spec proves that they agree with them in every cell.
 */

/** (status, event type) → the next status. */
export const RUN_EDGES: Readonly<Record<EventTypeIn<'run'>, Edges<RunStatus>>> = {
  'run.started': to('running', 'none'),
  'run.suspend_requested': to('suspending', 'running'),
  'run.suspended': to('suspended', 'suspending'),
  'run.resumed': to('running', 'suspended', 'interrupted'),
  'run.interrupted': to('interrupted', 'running'),
  'stop.requested': to('stopping', 'running', 'suspending', 'suspended', 'interrupted'),
  'model.cancelled': stay('suspending', 'stopping'),
  'run.stopped': to('stopped', 'stopping'),
  'run.completed': to('completed', 'running'),
  'run.failed': to('failed', 'running', 'interrupted'),
  'run.handed_off': to('handed_off', 'running', 'suspending', 'suspended', 'interrupted', 'stopping'),
  'run.marked_not_resumable': to('ended_unrecorded', 'running', 'suspending', 'suspended', 'interrupted', 'stopping'),
  'reasoning.recorded': stay('running', 'suspending', 'interrupted'),
  'artifact.created': stay('running', 'suspending', 'suspended', 'interrupted', 'stopping'),
  'subagent.spawned': stay('running', 'suspending', 'interrupted'),
  'subagent.completed': stay('running', 'suspending', 'suspended', 'interrupted', 'stopping'),
  'subagent.failed': stay('running', 'suspending', 'suspended', 'interrupted', 'stopping'),
  'subagent.late_result': stay(...RUN_TERMINAL_STATUSES),
};

/** The order of the columns below. */
export const RUN_SITUATIONS = ['none', ...RUN_STATUSES] as const;

const yes = 'allowed';
const abs = 'run_not_found';
const act = 'run_already_active';
const end = 'run_already_ended';
const stp = 'run_stopping';
const sus = 'run_suspended';
const saf = 'not_at_safe_point';
const opn = 'run_has_open_work';
const nrs = 'run_not_resumable';
const nsu = 'command_not_supported';

type Row = PerItem<typeof RUN_SITUATIONS, 'allowed' | ErrorCode>;

/**
 * (command, status) → allowed, or the code of the refusal; a row per kind of content. Allowed may mean that nothing is
 * left to record. Columns: none · running suspending suspended interrupted stopping · completed failed stopped
 * handed_off ended_unrecorded.
 */
// prettier-ignore
export const RUN_ANSWERS = {
  start: {
    any:                     [yes,  act, act, act, act, act,  end, end, end, end, end],
  },
  request_suspend: {
    any:                     [abs,  yes, saf, sus, sus, stp,  end, end, end, end, end],
  },
  suspend: {
    any:                     [abs,  saf, yes, sus, sus, stp,  end, end, end, end, end],
  },
  resume: {
    any:                     [abs,  act, saf, yes, yes, stp,  end, end, end, end, nrs],
  },
  interrupt: {
    with_an_owner:           [abs,  yes, yes, yes, yes, yes,  end, end, end, end, end],
    opened_implicitly:       [abs,  nsu, yes, yes, yes, yes,  end, end, end, end, end],
  },
  request_stop: {
    any:                     [abs,  yes, yes, yes, yes, stp,  end, end, end, end, end],
  },
  cancel_model: {
    model_active:            [abs,  saf, yes, sus, sus, yes,  end, end, end, end, end],
    model_idle:              [abs,  saf, yes, sus, sus, yes,  end, end, end, end, end],
    said_before:             [abs,  saf, yes, sus, sus, yes,  end, end, end, end, end],
  },
  stop: {
    all_legs_settled:        [abs,  saf, saf, sus, sus, yes,  end, end, end, end, end],
    with_open_calls:         [abs,  saf, saf, sus, sus, opn,  end, end, end, end, end],
    model_active:            [abs,  saf, saf, sus, sus, opn,  end, end, end, end, end],
  },
  complete: {
    no_open_call:            [abs,  yes, saf, sus, sus, stp,  end, end, end, end, end],
    with_open_calls:         [abs,  opn, saf, sus, sus, stp,  end, end, end, end, end],
  },
  fail: {
    any:                     [abs,  yes, saf, sus, yes, stp,  end, end, end, end, end],
  },
  hand_off: {
    any:                     [abs,  yes, yes, yes, yes, yes,  end, end, end, end, end],
  },
  mark_not_resumable: {
    any:                     [abs,  yes, yes, yes, yes, yes,  end, end, end, end, end],
  },
  record_reasoning: {
    any:                     [abs,  yes, yes, sus, yes, stp,  end, end, end, end, end],
  },
  record_artifact: {
    any:                     [abs,  yes, yes, yes, yes, yes,  end, end, end, end, end],
  },
  spawn_subagent: {
    any:                     [abs,  yes, yes, sus, yes, stp,  end, end, end, end, end],
  },
  end_subagent: {
    with_success:            [abs,  yes, yes, yes, yes, yes,  yes, yes, yes, yes, yes],
    with_failure:            [abs,  yes, yes, yes, yes, yes,  yes, yes, yes, yes, yes],
  },
} as const satisfies Readonly<Record<RunCommandKind, Readonly<Record<string, Row>>>>;
