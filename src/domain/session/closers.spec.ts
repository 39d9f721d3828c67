import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CoreWorld, HEADER, KEY, said, worldWith } from '../../../test/builders/conversation-examples.js';
import { owedAnswers } from './call-answers.js';
import { closersOf } from './closers.js';
import { appendToCore, type NewSessionEvent } from './session.append.js';
import { classifyTail } from './tail.js';

const BEGUN = [said.turn(), said.step()];

/** Appends what is due, as a load does. */
function close(world: CoreWorld): readonly string[] {
  const closers = closersOf(world.core);
  const appended = appendToCore(world.core, closers, { ...world.context('recovery'), synthetic: true });
  if (!appended.ok) throw new Error(appended.message);
  world.facts.push(...appended.events);
  return appended.events.map(
    (event) => `${event.eventType} ${JSON.stringify(event.payload['disposition'] ?? event.payload['outcome'])}`,
  );
}

describe('what closes an interrupted turn', () => {
  it.each<[string, readonly NewSessionEvent[], readonly string[]]>([
    ['no turn', [said.user('u-1')], []],
    ['a turn without a step', [said.turn()], ['turn.ended "interrupted"']],
    ['a stream', [...BEGUN, said.delta()], ['step.ended "interrupted"', 'turn.ended "interrupted"']],
    [
      'calls that nobody proposed',
      [...BEGUN, said.message('m-1', 'a', 'b'), said.reported('a')],
      ['tool.message "not_executed"', 'step.ended "interrupted"', 'turn.ended "interrupted"'],
    ],
    ['an ended turn', [...BEGUN, said.message('m-1'), said.stepEnd(), said.turnEnd()], []],
  ])('after %s is only what is missing [D-57]', (_, inputs, expected) => {
    expect(close(worldWith(...inputs))).toEqual(expected);
  });

  it.each([
    ['tool.call.completed', { result: { paid: 5 } }, 'completed', 'paid'],
    ['tool.call.failed', { code: 'card_declined', effect: 'none' }, 'failed', 'card_declined'],
    ['tool.call.denied', { basis: 'approval' }, 'denied', 'approval'],
    ['tool.call.not_executed', { reason: 'approval_expired' }, 'not_executed', 'approval_expired'],
    ['tool.call.manual_handoff', { reason: 'deadline_passed' }, 'handed_off', 'not known'],
  ])('tells of a call that ended with %s what is on record', (type, payload, disposition, words) => {
    const world = worldWith(...BEGUN, said.message('m-1', 'c'));
    world.mirror(world.governed.call('tool.call.proposed', 'c'));
    world.mirror(world.governed.call(type, 'c', payload));
    expect(close(world)[0]).toBe(`tool.message "${disposition}"`);
    expect(
      JSON.stringify(world.facts.find((fact) => fact.kind === 'event' && fact.eventType === 'tool.message')),
    ).toContain(words);
  });

  it.each([
    ['a call that is not terminal', (world: CoreWorld) => world.governed.call('tool.call.proposed', 'c')],
    [
      'a pending approval',
      (world: CoreWorld) => world.governed.add('approval.required', { turnId: 'turn-1', approvalId: 'a' }),
    ],
    [
      'a plan review',
      (world: CoreWorld) => world.governed.add('plan_review.required', { turnId: 'turn-1' }, { planReviewId: 'p' }),
    ],
    [
      'a suspended run',
      (world: CoreWorld) => {
        world.mirror(world.governed.run('run.suspend_requested'));
        return world.governed.run('run.suspended');
      },
    ],
    ['a run that is being stopped', (world: CoreWorld) => world.governed.run('stop.requested')],
  ])('is nothing while the turn waits for %s [U-05, P-27]', (_, fact) => {
    const world = worldWith(...BEGUN, said.message('m-1', 'c'));
    world.mirror(fact(world));
    expect(closersOf(world.core)).toEqual([]);
  });

  it('is due where recovery itself suspended the run', () => {
    const world = worldWith(...BEGUN);
    world.mirror(world.governed.run('run.suspend_requested'));
    world.mirror(world.governed.run('run.suspended', { producer: 'recovery' }));
    expect(close(world)).toEqual(['step.ended "interrupted"', 'turn.ended "interrupted"']);
  });

  it('claims nothing of a call whose record was erased', () => {
    const world = worldWith(...BEGUN, said.message('m-1', 'c'));
    world.mirror(
      world.governed.add('tool.call.proposed', { runId: 'run-1', turnId: 'turn-1', toolCallId: 'tc-c' }, null),
    );
    world.mirror(
      world.governed.add('tool.call.completed', { runId: 'run-1', turnId: 'turn-1', toolCallId: 'tc-c' }, null),
    );
    expect(close(world)[0]).toBe('tool.message "result_unknown"');
  });

  it('says that it is synthetic, from recovery, and caused by the last whole event', () => {
    const world = worldWith(...BEGUN, said.message('m-1', 'a'));
    const before = world.facts.length;
    close(world);
    expect(
      world.facts
        .slice(before)
        .map((fact) => fact.kind === 'event' && [fact.synthetic, fact.producer, fact.causationId]),
    ).toEqual(Array.from({ length: 3 }, () => [true, 'recovery', 'evt-3']));
  });

  it('is nothing the second time, and leaves a log that is balanced [D-58, D-78]', () => {
    const world = worldWith(...BEGUN, said.message('m-1', 'a', 'b'));
    const before = world.facts.length;
    close(world);
    expect(closersOf(world.core)).toEqual([]);
    expect(world.facts.length).toBe(before + 4);
    expect(classifyTail(KEY, HEADER, world.facts)).toMatchObject({ ok: true, tail: 'balanced' });
  });

  it('ends the turns of a run that is stopping once its calls are settled (T15)', () => {
    const world = worldWith(...BEGUN);
    world.mirror(world.governed.run('stop.requested'));
    expect(closersOf(world.core, 'stopped').map((event) => event.payload['outcome'])).toEqual(['stopped', 'stopped']);
  });
});

describe('what the conversation is owed', () => {
  it('is one message for a listed call, and after it a notice of each later end [U-41]', () => {
    const world = worldWith(...BEGUN, said.message('m-1', 'c'));
    world.mirror(world.governed.call('tool.call.proposed', 'c'));
    expect(owedAnswers(world.core)).toEqual([]);
    world.mirror(world.governed.call('tool.call.failed', 'c', { code: 'x', effect: 'none' }));
    const [answer] = owedAnswers(world.core);
    expect(world.append(answer ?? [], 'capability-runtime')).toBe('ok');
    expect(owedAnswers(world.core)).toEqual([]);
    world.mirror(world.governed.call('tool.call.retry_accepted', 'c'));
    world.mirror(world.governed.call('tool.call.completed', 'c', { result: 'paid' }));
    const [notice] = owedAnswers(world.core);
    expect(notice).toMatchObject({ eventType: 'notice.message', toolCallId: 'tc-c', payload: { about: 'tc-c' } });
    expect(world.append(notice ?? [], 'session-runtime')).toBe('ok');
    expect(owedAnswers(world.core)).toEqual([]);
  });

  it('is nothing for a call that no message lists', () => {
    const world = worldWith(...BEGUN);
    world.mirror(world.governed.call('tool.call.proposed', 'c'));
    world.mirror(world.governed.call('tool.call.completed', 'c', { result: 1 }));
    expect(owedAnswers(world.core)).toEqual([]);
  });
});

/** One of many things that may be tried at any time; most are refused in most places. */
const attempt = fc.record({ what: fc.integer({ min: 0, max: 12 }), n: fc.integer({ min: 0, max: 3 }) });

function tryOne(world: CoreWorld, what: number, n: number): void {
  const turn = world.core.turn?.turnId ?? 'turn-0';
  const step = world.core.turn?.stepId ?? 'step-0';
  const at = (input: NewSessionEvent): NewSessionEvent => ({ ...input, turnId: turn, stepId: step });
  const call = `c${n}`;
  const governed = (type: string): unknown =>
    world.mirror(
      world.governed.add(
        type,
        { runId: 'run-1', turnId: turn, toolCallId: `tc-${call}` },
        type.endsWith('proposed') ? { callId: call } : {},
      ),
    );
  const tries: readonly (() => unknown)[] = [
    () => world.append(said.user(`u-${world.facts.length}`)),
    () => world.append(said.turn(`turn-${world.facts.length}`)),
    () => world.append(said.step(`step-${world.facts.length}`, turn)),
    () =>
      world.append({ ...at(said.delta(n)), payload: { messageId: `m-${world.facts.length}`, index: n, text: 't' } }),
    () => world.append(at(said.message(`m-${world.facts.length}`))),
    () => world.append(at(said.message(`m-${world.facts.length}`, `${call}-${world.facts.length}`, call))),
    () => world.append({ ...said.reported(call), turnId: turn }),
    () => world.append({ ...said.stepEnd(n === 0 ? 'completed' : 'failed', step), turnId: turn }),
    () => world.append(said.turnEnd('completed', turn)),
    () => governed('tool.call.proposed'),
    () => governed('tool.call.completed'),
    () => governed('tool.call.failed'),
    () => world.append(owedAnswers(world.core), 'capability-runtime'),
  ];
  tries[what]?.();
}

describe('any log that appends can make', () => {
  it('is understood again as it was, and balanced or waiting once it is closed [D-02, D-58]', () => {
    fc.assert(
      fc.property(fc.array(attempt, { maxLength: 60 }), (attempts) => {
        const world = worldWith();
        for (const { what, n } of attempts) tryOne(world, what, n);
        const before = classifyTail(KEY, HEADER, world.facts);
        expect(before.ok && [before.core.turn, before.core.headSeq]).toEqual([world.core.turn, world.core.headSeq]);
        close(world);
        const after = classifyTail(KEY, HEADER, world.facts);
        expect(after.ok && after.tail !== 'open').toBe(true);
        expect(close(world)).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
