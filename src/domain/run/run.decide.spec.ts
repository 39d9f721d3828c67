import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RUN_ROWS, runIn, started } from '../../../test/builders/run-examples.js';
import type { DomainEvent } from '../events/catalogue.js';
import { workRefusal } from './run.admission.js';
import type { RunCommand } from './run.commands.js';
import { decideRun } from './run.decide.js';
import { evolveRun, foldRun } from './run.evolve.js';
import { isEnded, RUN_OPEN_STATUSES, RUN_STATUSES, type RunState } from './run.state.js';
import { RUN_EDGES } from './run.transitions.js';

function eventsOf(state: RunState, command: RunCommand): readonly DomainEvent[] {
  const decided = decideRun(state, command);
  if (!decided.ok) throw new Error(`${decided.code}: ${decided.message}`);
  return decided.events;
}

const interrupt: RunCommand = { kind: 'interrupt', interruption: { lastSeq: 4, checkpointId: 'chk_1' } };
const cancelModel: RunCommand = { kind: 'cancel_model', cancellation: { basis: 'harness_lost' } };
const requestStop = (modelActive: boolean): RunCommand => ({
  kind: 'request_stop',
  request: { scope: ['call_1'], modelActive, requestedBy: 'olga' },
});

describe('stopping a run', () => {
  it('asks for the model only when one is active, and never claims a false cancellation', () => {
    const idle = foldRun(runIn('running'), eventsOf(runIn('running'), requestStop(false))) as RunState;
    expect(idle).toMatchObject({ status: 'stopping', modelLeg: 'idle' });
    expect(eventsOf(idle, cancelModel)).toEqual([]);
  });

  it('waits for the model, takes its cancellation once, and then stops', () => {
    const active = foldRun(runIn('running'), eventsOf(runIn('running'), requestStop(true))) as RunState;
    const stop: RunCommand = { kind: 'stop', stop: { legs: {} }, openCalls: 0 };
    expect(decideRun(active, stop)).toMatchObject({ code: 'run_has_open_work' });
    const cancelled = foldRun(active, eventsOf(active, cancelModel)) as RunState;
    expect(cancelled.modelLeg).toBe('cancelled');
    expect(eventsOf(cancelled, cancelModel)).toEqual([]);
    expect(eventsOf(cancelled, stop).map(({ type }) => type)).toEqual(['run.stopped']);
  });

  it('is asked once; asking again is refused and changes nothing', () => {
    expect(decideRun(runIn('stopping'), requestStop(true))).toMatchObject({ code: 'run_stopping' });
  });
});

describe('a cold load', () => {
  it('interrupts a running run that had an owner', () => {
    expect(eventsOf(runIn('running'), interrupt)).toEqual([
      { type: 'run.interrupted', payload: { lastSeq: 4, checkpointId: 'chk_1' } },
    ]);
  });

  it('finishes a suspension that was on its way', () => {
    expect(eventsOf(runIn('suspending'), interrupt)).toEqual([
      { type: 'run.suspended', payload: { checkpointId: 'chk_1' } },
    ]);
    expect(eventsOf(runIn('suspending'), { kind: 'interrupt', interruption: {} })).toEqual([
      { type: 'run.suspended', payload: {} },
    ]);
  });

  it.each(['suspended', 'interrupted', 'stopping'] as const)('adds nothing to a run that is %s', (status) => {
    expect(eventsOf(runIn(status), interrupt)).toEqual([]);
  });

  it('never interrupts a run that was opened implicitly', () => {
    const implicit = { ...runIn('running'), implicit: true };
    expect(decideRun(implicit, interrupt)).toMatchObject({ code: 'command_not_supported' });
  });
});

describe('folding a run', () => {
  it('starts running with the principal and the label, and nothing else of the payload', () => {
    const state = evolveRun(null, { type: 'run.started', payload: started({ goalRef: 'goal-1' }) });
    expect(state).toEqual({
      status: 'running',
      implicit: false,
      label: 'refunds',
      principal: { sub: 'alice', act: 'agent-7' },
      modelLeg: 'idle',
      endReason: null,
    });
    const { label: _, ...unlabelled } = started({ implicit: true, principal: { sub: 'bob' } });
    expect(evolveRun(null, { type: 'run.started', payload: unlabelled })).toMatchObject({
      implicit: true,
      label: null,
      principal: { sub: 'bob' },
    });
  });

  it('remembers why it ended, as a word and without the message of an error', () => {
    const reasons = RUN_STATUSES.filter(isEnded).map((status) => [status, runIn(status).endReason]);
    expect(Object.fromEntries(reasons)).toEqual({
      completed: 'idle',
      failed: 'model_failed',
      stopped: null,
      handed_off: 'checkpoint_incompatible',
      ended_unrecorded: null,
    });
    const failed = evolveRun(runIn('running'), { type: 'run.failed', payload: { lastError: { message: 'no code' } } });
    expect(failed.endReason).toBeNull();
    expect(evolveRun(runIn('running'), { type: 'run.completed', payload: {} }).endReason).toBeNull();
  });

  it('forgets the model leg of a suspension once it is resumed', () => {
    const cancelled = evolveRun(runIn('suspending'), { type: 'model.cancelled', payload: { basis: 'reported' } });
    const resumed = evolveRun(cancelled, { type: 'run.resumed', payload: {} });
    expect([cancelled.modelLeg, resumed.modelLeg]).toEqual(['cancelled', 'idle']);
  });

  it.each<[string, RunState | null, DomainEvent]>([
    ['an event of another stream', runIn('running'), { type: 'approval.closed', payload: { reason: 'stopped' } }],
    ['no start first', null, { type: 'run.resumed', payload: {} }],
    ['a principal that is none', null, { type: 'run.started', payload: started({ principal: { sub: 7 } }) }],
    ['an agent that is none', null, { type: 'run.started', payload: started({ principal: { sub: 'a', act: {} } }) }],
  ])('stops the work at %s', (_, state, event) => {
    expect(() => evolveRun(state, event)).toThrow();
  });
});

describe('whether a run takes work', () => {
  it('is what RUN_OPEN_STATUSES says, with a code that fits the status', () => {
    const codes = RUN_STATUSES.map((status) => [status, workRefusal(status)?.code ?? 'open']);
    expect(Object.fromEntries(codes)).toEqual({
      running: 'open',
      interrupted: 'open',
      suspending: 'open',
      suspended: 'run_suspended',
      stopping: 'run_stopping',
      completed: 'run_already_ended',
      failed: 'run_already_ended',
      stopped: 'run_already_ended',
      handed_off: 'run_already_ended',
      ended_unrecorded: 'run_already_ended',
    });
    expect(RUN_STATUSES.filter((status) => workRefusal(status) === null).sort()).toEqual([...RUN_OPEN_STATUSES].sort());
  });
});

describe('any sequence of commands to a run', () => {
  it('takes only edges of the table and records nothing after an end but the late end of a helper', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...RUN_ROWS), { maxLength: 30, size: 'max' }), (rows) => {
        let state = runIn('running');
        for (const { trial } of rows) {
          const decided = decideRun(state, trial.command(state));
          for (const event of decided.ok ? decided.events : []) {
            expect(isEnded(state.status)).toBe(event.type === 'subagent.late_result');
            const next = evolveRun(state, event);
            expect((RUN_EDGES as Record<string, Record<string, string>>)[event.type]?.[state.status]).toBe(next.status);
            state = next;
          }
        }
      }),
    );
  });
});
