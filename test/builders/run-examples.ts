import type { DomainEvent, EventPayload } from '../../src/domain/events/catalogue.js';
import type { RunCommand, RunCommandKind } from '../../src/domain/run/run.commands.js';
import { foldRun } from '../../src/domain/run/run.evolve.js';
import type { RunState, RunStatus } from '../../src/domain/run/run.state.js';
import type { RUN_ANSWERS } from '../../src/domain/run/run.transitions.js';
import { rowsOf, type Trial, type TrialRow } from './machine-table.js';

/** One run of an agent for a person, opened through the session API. */

export const started = (more: Partial<EventPayload<'run.started'>> = {}): EventPayload<'run.started'> => ({
  implicit: false,
  label: 'refunds',
  principal: { sub: 'alice', act: 'agent-7' },
  ...more,
});

const STARTED: readonly DomainEvent[] = [{ type: 'run.started', payload: started() }];
const SUSPENDING: readonly DomainEvent[] = [...STARTED, { type: 'run.suspend_requested', payload: {} }];
const STOPPING: readonly DomainEvent[] = [
  ...STARTED,
  { type: 'stop.requested', payload: { scope: [], modelActive: false, requestedBy: 'olga' } },
];

export const RUN_HISTORIES: Readonly<Record<RunStatus, readonly DomainEvent[]>> = {
  running: STARTED,
  suspending: SUSPENDING,
  suspended: [...SUSPENDING, { type: 'run.suspended', payload: { checkpointId: 'chk_1' } }],
  interrupted: [...STARTED, { type: 'run.interrupted', payload: { lastSeq: 4 } }],
  stopping: STOPPING,
  completed: [...STARTED, { type: 'run.completed', payload: { reason: 'idle' } }],
  failed: [...STARTED, { type: 'run.failed', payload: { lastError: { code: 'model_failed', message: 'secret' } } }],
  stopped: [...STOPPING, { type: 'run.stopped', payload: { legs: { model: 'idle', calls: [] } } }],
  handed_off: [...STARTED, { type: 'run.handed_off', payload: { reason: 'checkpoint_incompatible' } }],
  ended_unrecorded: [
    ...STARTED,
    { type: 'run.marked_not_resumable', payload: { markerSeenAt: '2031-01-01T10:00:00.000Z' } },
  ],
};

export function runIn(status: RunStatus): RunState {
  const state = foldRun(null, RUN_HISTORIES[status]);
  if (state === null) throw new Error(`no history for ${status}`);
  return state;
}

export const reasoned = (
  more: Partial<EventPayload<'reasoning.recorded'>> = {},
): EventPayload<'reasoning.recorded'> => ({
  goalRef: 'goal-1',
  conclusion: 'eligible, needs confirmation',
  knowledgeRefs: ['policy:refunds'],
  evidenceRefs: ['order:o-1'],
  risk: 'high',
  ...more,
});

type RunTrial = Trial<RunState, RunCommand>;
const always = (command: RunCommand, more: Partial<RunState> = {}): RunTrial => ({
  command: () => command,
  given: (state) => ({ ...state, ...more }),
});
const stop = (openCalls: number): RunCommand => ({ kind: 'stop', stop: { legs: {} }, openCalls });
const complete = (openCalls: number): RunCommand => ({ kind: 'complete', completion: {}, openCalls });
const interrupt: RunCommand = { kind: 'interrupt', interruption: { lastSeq: 4, checkpointId: 'chk_1' } };
const endSubagent = (succeeded: boolean): RunCommand => ({
  kind: 'end_subagent',
  end: { subagentId: 'sub-1', status: 'done', resultRef: null },
  succeeded,
});
const cancelModel: RunCommand = { kind: 'cancel_model', cancellation: { basis: 'reported' } };

type Trials = {
  readonly [K in RunCommandKind]: { readonly [V in keyof (typeof RUN_ANSWERS)[K]]: RunTrial };
};

/** A command for every row of the table. */
const TRIALS: Trials = {
  start: { any: always({ kind: 'start', start: started() }) },
  request_suspend: { any: always({ kind: 'request_suspend', request: { waitLimitMs: 1_000 } }) },
  suspend: { any: always({ kind: 'suspend', suspension: { checkpointId: 'chk_1', safePoint: 'settled' } }) },
  resume: { any: always({ kind: 'resume', resumption: { ownerEpoch: 2 } }) },
  interrupt: {
    with_an_owner: always(interrupt),
    opened_implicitly: always(interrupt, { implicit: true }),
  },
  request_stop: {
    any: always({ kind: 'request_stop', request: { scope: [], modelActive: true, requestedBy: 'olga' } }),
  },
  cancel_model: {
    model_active: always(cancelModel, { modelLeg: 'active' }),
    model_idle: always(cancelModel, { modelLeg: 'idle' }),
    said_before: always(cancelModel, { modelLeg: 'cancelled' }),
  },
  stop: {
    all_legs_settled: always(stop(0)),
    with_open_calls: always(stop(2)),
    model_active: always(stop(0), { modelLeg: 'active' }),
  },
  complete: {
    no_open_call: always(complete(0)),
    with_open_calls: always(complete(1)),
  },
  fail: { any: always({ kind: 'fail', failure: { lastError: { code: 'model_failed' } } }) },
  hand_off: { any: always({ kind: 'hand_off', handoff: { reason: 'checkpoint_incompatible' } }) },
  mark_not_resumable: {
    any: always({ kind: 'mark_not_resumable', marking: { markerSeenAt: '2031-01-01T10:00:00.000Z' } }),
  },
  record_reasoning: { any: always({ kind: 'record_reasoning', reasoning: reasoned() }) },
  record_artifact: {
    any: always({
      kind: 'record_artifact',
      artifact: { goalRef: 'goal-1', mediaType: 'text/csv', digest: 'sha256:1', location: 's3://reports/1' },
    }),
  },
  spawn_subagent: {
    any: always({
      kind: 'spawn_subagent',
      spawning: { subagentId: 'sub-1', childSessionId: 'ses-2', goalRef: 'goal-1' },
    }),
  },
  end_subagent: { with_success: always(endSubagent(true)), with_failure: always(endSubagent(false)) },
};

export const RUN_ROWS: readonly TrialRow<RunState, RunCommand>[] = rowsOf(TRIALS);
