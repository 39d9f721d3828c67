import { describe, expect, it } from '@jest/globals';
import { HEADER, KEY, said, worldWith } from '../../../test/builders/conversation-examples.js';
import type { SessionEvent, SessionFact, SessionHeader } from './session-row.js';
import { classifyTail } from './tail.js';

function story(): SessionFact[] {
  const world = worldWith(
    said.user('u-1'),
    said.turn(),
    said.step(),
    said.message('m-1'),
    said.stepEnd(),
    said.turnEnd(),
  );
  world.append([said.user('u-2'), said.user('u-3')], 'harness', 'g-1');
  return world.facts;
}

/** The story with one row changed. */
function changed(at: number, change: Partial<SessionEvent>): readonly SessionFact[] {
  return story().map((fact, index) => (index === at ? ({ ...fact, ...change } as SessionFact) : fact));
}

const renumbered = (facts: readonly SessionFact[]): readonly SessionFact[] =>
  facts.map((fact, seq) => ({ ...fact, seq }));

describe('the tail of a log', () => {
  it.each([
    ['balanced', [said.user('u-1')]],
    ['open', [said.turn()]],
    ['open', [said.turn(), said.step(), said.message('m-1', 'c')]],
  ])('is %s', (tail, inputs) => {
    expect(classifyTail(KEY, HEADER, worldWith(...inputs).facts)).toMatchObject({ ok: true, tail });
  });

  it('is a durable wait while a call of the turn is carried out [U-05]', () => {
    const world = worldWith(said.turn(), said.step(), said.message('m-1', 'c'));
    world.mirror(world.governed.call('tool.call.proposed', 'c'));
    expect(classifyTail(KEY, HEADER, world.facts)).toMatchObject({ ok: true, tail: 'durable_wait' });
  });

  it('is understood in full where nothing was changed', () => {
    expect(classifyTail(KEY, HEADER, story())).toMatchObject({ ok: true, tail: 'balanced', unknownRows: 0 });
  });

  it.each<[string, SessionHeader, string]>([
    ['another session', { ...HEADER, sessionId: 'ses-2' }, 'session_identity_mismatch'],
    ['another tenant', { ...HEADER, tenant: 'other' }, 'session_identity_mismatch'],
    ['a newer format', { ...HEADER, formatVersion: 2 }, 'session_format_unsupported'],
  ])('under a header of %s is refused [D-55, D-56]', (_, header, code) => {
    expect(classifyTail(KEY, header, story())).toMatchObject({ ok: false, code, seq: null });
  });

  it.each<[string, readonly SessionFact[], string, number]>([
    ['an unknown type', changed(1, { eventType: 'user.sang' }), 'session_format_unsupported', 1],
    ['a newer schema', changed(1, { schemaVersion: 2 }), 'session_format_unsupported', 1],
    [
      'an unknown type behind damage',
      changed(3, { eventType: 'user.sang', seq: 99 }),
      'session_format_unsupported',
      99,
    ],
    ['a gap', story().filter((fact) => fact.seq !== 2), 'session_log_corrupt', 3],
    ['a row twice', renumbered([...story(), ...story().slice(1, 2)]), 'session_log_corrupt', 9],
    ['a payload that does not fit', changed(1, { payload: { messageId: 'u-1' } }), 'session_log_corrupt', 1],
    ['a producer that may not say it', changed(1, { producer: 'recovery' }), 'session_log_corrupt', 1],
    ['a reference to nothing', changed(2, { runId: 'run-9' }), 'session_log_corrupt', 2],
    ['an order that no turn has', renumbered(story().filter((fact) => fact.seq !== 3)), 'session_log_corrupt', 3],
    ['half a group at its end', story().slice(0, -1), 'session_log_corrupt', 7],
    ['a group without its beginning', renumbered(story().filter((fact) => fact.seq !== 7)), 'session_log_corrupt', 7],
    [
      'a group that is broken off',
      renumbered([...story().slice(0, 8), { ...(story()[1] as SessionEvent), eventId: 'evt-x' }]),
      'session_log_corrupt',
      8,
    ],
  ])('with %s is refused at its row [D-06, D-66, D-68]', (_, facts, code, seq) => {
    expect(classifyTail(KEY, HEADER, facts)).toMatchObject({ ok: false, code, seq });
  });

  it('keeps and counts rows of unknown types that say they may be passed over [D-56]', () => {
    const facts = changed(1, { eventType: 'weather.noted', ignorable: true });
    expect(classifyTail(KEY, HEADER, facts)).toMatchObject({ ok: true, unknownRows: 1, core: { headSeq: 8 } });
  });

  it('with a governed event of a newer program is unsupported, not damaged [U-09]', () => {
    const world = worldWith();
    world.mirror(world.governed.run('run.dreamt'));
    expect(classifyTail(KEY, HEADER, world.facts)).toMatchObject({
      ok: false,
      code: 'session_format_unsupported',
      seq: 1,
    });
  });
});
