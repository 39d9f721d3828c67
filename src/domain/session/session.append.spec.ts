import { describe, expect, it } from '@jest/globals';
import { CoreWorld, said, worldWith } from '../../../test/builders/conversation-examples.js';
import { appendToCore, type NewSessionEvent } from './session.append.js';

const PLACE = { runId: 'run-1', turnId: 'turn-1' };
const odd = (eventType: string, payload: Readonly<Record<string, unknown>>, refs: object = {}): NewSessionEvent => ({
  eventType,
  payload,
  ...refs,
});
const usage = (model: unknown): NewSessionEvent => odd('usage.recorded', { model, tokens: {} }, { runId: 'run-1' });

/** What a refusal must not change. */
const traceOf = ({ core, facts }: CoreWorld): string =>
  JSON.stringify([
    core.headSeq,
    core.lastEventId,
    core.turn,
    core.streamCause,
    facts.length,
    core.messages.size,
    core.events.size,
    core.listed.size,
  ]);

describe('one append', () => {
  it('numbers, completes and freezes an event [D-13]', () => {
    const world = worldWith();
    world.append(said.user('u-1'));
    const [, event] = world.facts;
    expect(event).toMatchObject({
      seq: 1,
      correlationId: 'ses-1',
      causationId: null,
      causeKind: 'external',
      producer: 'harness',
    });
    expect(Object.isFrozen(event)).toBe(true);
  });

  it('takes the event before as the cause, where none is named', () => {
    const world = worldWith(said.turn());
    world.append(said.step());
    expect(world.facts[2]).toMatchObject({ causationId: 'evt-1', causeKind: 'event', correlationId: 'run-1' });
  });

  it('gives the pieces of one stream the cause of the first, so that they can stand in one row [D-36]', () => {
    const world = worldWith(said.turn(), said.step());
    world.append(said.delta());
    world.append([said.delta(), said.delta()]);
    const streamed = world.facts.slice(3).map((fact) => (fact.kind === 'event' ? fact.causationId : null));
    expect(streamed).toEqual(['evt-2', 'evt-2', 'evt-2']);
    world.append(said.message('m-9'));
    expect(world.facts.at(-1)).toMatchObject({ causationId: 'evt-5' });
  });

  it.each([
    ['an unknown type', odd('made.up', {}), 'event_type_unknown'],
    ['a type of the runtime', odd('notice.message', { messageId: 'n', text: 't', about: 'a' }), 'producer_not_allowed'],
    ['an answer in the words of the record', odd('tool.message', {}), 'producer_not_allowed'],
    [
      'a payload that is no object',
      odd('user.message', [] as unknown as Record<string, unknown>),
      'event_schema_invalid',
    ],
    ['a field too many', odd('system.reminder_set', { key: 'k', value: 'v', more: 1 }), 'event_schema_invalid'],
    ['a message without contents', odd('user.message', { messageId: 'm', contents: [] }), 'message_empty_contents'],
    ['contents without a type', odd('user.message', { messageId: 'm', contents: ['text'] }), 'event_schema_invalid'],
    [
      'an empty messageId',
      odd('user.message', { messageId: '', contents: [{ type: 'text' }] }),
      'event_schema_invalid',
    ],
    ['a time without a zone', { ...said.user('u'), occurredAt: '2026-03-01T10:00:00' }, 'event_schema_invalid'],
    ['half a surrogate pair in a correlation', { ...said.user('u'), correlationId: '\ud800' }, 'event_schema_invalid'],
    ['a missing reference', odd('usage.recorded', { model: 'm', tokens: {} }), 'dangling_reference'],
    ['an unknown run', { ...usage('m'), runId: 'run-9' }, 'dangling_reference'],
    ['an unknown turn', { ...usage('m'), turnId: 'turn-9' }, 'dangling_reference'],
    ['an unknown step', { ...usage('m'), stepId: 'step-9' }, 'dangling_reference'],
    ['an unknown call', { ...usage('m'), toolCallId: 'tc-9' }, 'dangling_reference'],
    ['an unknown cause', { ...usage('m'), causationId: 'evt-9' }, 'dangling_reference'],
    ['an unknown reasoning', { ...usage('m'), reasoningObjectId: 'rsn-9' }, 'dangling_reference'],
    ['a step without a turn', said.step(), 'dangling_reference'],
    ['a function', odd('metadata.updated', { patch: { f: () => 1 } }), 'state_not_serializable'],
    ['too many bytes', odd('metadata.updated', { patch: { t: 'x'.repeat(10_000) } }), 'payload_too_large'],
    [
      'too many bytes in few characters',
      odd('metadata.updated', { patch: { t: '\u20ac'.repeat(3400) } }),
      'payload_too_large',
    ],
    ['a credential', odd('metadata.updated', { patch: { key: 'sk_live_1' } }), 'secret_in_payload'],
  ])('of %s is refused and leaves no trace [D-13, K-26]', (_, input, code) => {
    const world = worldWith();
    const before = traceOf(world);
    expect(world.append(input)).toBe(code);
    expect(traceOf(world)).toBe(before);
  });

  it('names the place of what is no plain data', () => {
    const world = worldWith();
    const input = odd('metadata.updated', { patch: { deep: [Number.NaN] } });
    expect(appendToCore(world.core, [input], world.context())).toMatchObject({ pointer: '/payload/patch/deep/0' });
  });

  it('takes as many bytes as fit although they are more than a third of the limit', () => {
    expect(worldWith().append(odd('metadata.updated', { patch: { t: 'x'.repeat(9900) } }))).toBe('ok');
  });

  it.each([
    ['a message id', [said.user('u-1')], said.user('u-1')],
    ['a turn id', [said.turn(), said.turnEnd()], said.turn()],
    ['a step id', [said.turn(), said.step(), said.stepEnd('failed')], said.step()],
    ['a call id twice in a message', [said.turn(), said.step()], said.message('m-1', 'c', 'c')],
    ['the message id of a delta', [said.turn(), said.step(), said.message('m-1')], said.delta()],
  ])('refuses %s that was used', (_, before, input) => {
    expect(worldWith(...before).append(input)).toBe('duplicate_id');
  });

  it('refuses a call id that another step listed', () => {
    const world = worldWith(
      said.turn(),
      said.step(),
      said.message('m-1', 'c'),
      said.reported('c'),
      said.stepEnd(),
      said.step('step-2'),
    );
    expect(world.append({ ...said.message('m-2', 'c'), stepId: 'step-2' })).toBe('duplicate_id');
  });

  it.each([
    ['a call that nobody listed', 'other', false, 'dangling_reference'],
    ['a governed call', 'c', true, 'producer_not_allowed'],
    ['a call of the harness', 'c', false, 'ok'],
  ])('of an answer to %s by the harness is judged', (_, callId, isGoverned, answer) => {
    const world = worldWith(said.turn(), said.step(), said.message('m-1', 'c'));
    if (isGoverned) world.mirror(world.governed.call('tool.call.proposed', 'c'));
    expect(world.append(said.reported(callId))).toBe(answer);
  });

  it('is held to the turn that is open, and to its run', () => {
    const world = worldWith(said.turn(), said.step());
    world.mirror(world.governed.add('run.started', { runId: 'run-2' }));
    expect(world.append({ ...said.delta(), runId: 'run-2' })).toBe('dangling_reference');
    world.append(said.stepEnd('failed'));
    expect(world.append(said.delta())).toBe('step_not_open');
    world.append(said.turnEnd());
    expect(world.append(said.delta())).toBe('turn_not_open');
  });

  it.each([
    ['run.suspend_requested', [], 'not_at_safe_point'],
    ['stop.requested', [], 'run_stopping'],
    ['run.interrupted', [], 'run_suspended'],
    ['run.completed', [], 'run_already_ended'],
    ['run.marked_not_resumable', [], 'run_not_resumable'],
  ])('begins no turn after %s (T1)', (type, _, code) => {
    const world = worldWith();
    world.mirror(world.governed.run(type));
    expect(world.append(said.turn())).toBe(code);
  });

  it('lets only recovery say that a turn was interrupted', () => {
    const world = worldWith(said.turn());
    expect([world.append(said.turnEnd('interrupted')), world.append(said.turnEnd('interrupted'), 'recovery')]).toEqual([
      'producer_not_allowed',
      'ok',
    ]);
  });

  it('needs a recorded context build where a step names one (T2)', () => {
    const world = worldWith(said.turn());
    const step = { ...said.step(), payload: { contextBuildId: 'b-1' } };
    const projection = odd(
      'context.projection_recorded',
      {
        contextBuildId: 'b-1',
        sourceEventRange: [0, 1],
        includedObjectRefs: [],
        omittedObjectRefs: [],
        compactionPolicyVersion: '1',
        promptTemplateVersion: '1',
        tokenBudget: 1,
      },
      PLACE,
    );
    expect([world.append(step), world.append(projection), world.append(step)]).toEqual([
      'dangling_reference',
      'ok',
      'ok',
    ]);
  });
});

describe('a group', () => {
  it('is one commit: contiguous and marked [U-42, P-36]', () => {
    const world = worldWith();
    world.append([said.turn(), said.step(), said.delta()], 'harness', 'g-1');
    expect(
      world.facts
        .slice(1)
        .map((fact) => fact.kind === 'event' && [fact.seq, fact.groupId, fact.groupIndex, fact.groupSize]),
    ).toEqual([
      [1, 'g-1', 0, 3],
      [2, 'g-1', 1, 3],
      [3, 'g-1', 2, 3],
    ]);
  });

  it.each([
    ['an unknown type', odd('made.up', {})],
    ['a turn that is open already', said.turn('turn-2')],
    ['an id of the same group', said.message('m-1', 'c')],
  ])('whose last of several is refused for %s appends none of them [P-36]', (_, last) => {
    const world = worldWith(said.user('u-1'));
    const before = traceOf(world);
    const inputs = [said.turn(), said.step(), said.message('m-1', 'c'), last];
    const answer = appendToCore(world.core, inputs, world.context(), 'g-1');
    expect(answer).toMatchObject({ ok: false, index: 3 });
    expect(traceOf(world)).toBe(before);
    expect(world.append([said.turn(), said.step(), said.message('m-1', 'c')])).toBe('ok');
  });
});
