import { describe, expect, it } from '@jest/globals';
import {
  answersOf,
  edgesOf,
  edgesTaken,
  lineOf,
  rowsOf,
  type Machine,
  type Trial,
} from '../../../test/builders/machine-table.js';
import { SESSION_HISTORIES, sessionIn } from '../../../test/builders/session-examples.js';
import type { SessionCommand } from './session.commands.js';
import { decideSession } from './session.decide.js';
import { evolveSession } from './session.evolve.js';
import type { SessionState } from './session.state.js';
import { SESSION_ANSWERS, SESSION_EDGES, SESSION_SITUATIONS } from './session.transitions.js';

const always = (command: SessionCommand): Readonly<Record<string, Trial<SessionState, SessionCommand>>> => ({
  any: { command: () => command },
});

const ROWS = rowsOf<SessionState, SessionCommand>({
  open: always({ kind: 'open', opening: { principal: { sub: 'alice' }, formatVersion: 1 } }),
  attach: always({ kind: 'attach', harnessInstanceId: 'harness-b', harnessVersion: null }),
  import: always({ kind: 'import', imported: { sourceDigest: 'sha256:0', sourceSchemaVersion: 2, agentState: {} } }),
  record_repair: always({ kind: 'record_repair', repair: { closers: [], oldRevision: '1' } }),
  truncate_history: always({ kind: 'truncate_history', truncation: { droppedMessageIds: [], reason: 'suspended' } }),
  delete: always({ kind: 'delete', deletion: {} }),
});

const MACHINE: Machine<SessionState, SessionCommand> = {
  decide: decideSession,
  evolve: evolveSession,
  columns: SESSION_SITUATIONS,
  examplesOf: (column) => [column === 'none' ? null : sessionIn(column as keyof typeof SESSION_HISTORIES)],
};

describe('the record of a session and its table agree', () => {
  it.each(ROWS.map((row) => [row.kind, row] as const))('on %s in every status', (_kind, row) => {
    expect(answersOf(MACHINE, row)).toEqual(lineOf(SESSION_ANSWERS, row));
  });

  it('on every edge, and on no other', () => {
    expect(edgesTaken(MACHINE, ROWS)).toEqual(edgesOf(SESSION_EDGES));
  });
});

describe('who may append to a session', () => {
  it('is counted up by each attachment, so that the one before is refused [U-27]', () => {
    const first = sessionIn('open');
    const second = evolveSession(first, {
      type: 'session.harness_attached',
      payload: { harnessInstanceId: 'harness-b', ownerEpoch: first.ownerEpoch + 1 },
    });
    expect([first.ownerEpoch, second.ownerEpoch]).toEqual([1, 2]);
    expect(second.harnessInstanceId).toBe('harness-b');
    const decided = decideSession(second, { kind: 'attach', harnessInstanceId: 'harness-c', harnessVersion: '2' });
    expect(decided).toMatchObject({ events: [{ payload: { ownerEpoch: 3, harnessVersion: '2' } }] });
  });

  it('keeps whose work it does when another session handed it over [D-84]', () => {
    expect(sessionIn('open').parent).toEqual({ sessionId: 'parent', runId: 'run_1', subagentId: 'sub_1' });
  });
});

describe('a deleted session', () => {
  it('is deleted once, takes nothing more and never gives its id away again', () => {
    const deleted = sessionIn('deleted');
    expect(decideSession(deleted, { kind: 'delete', deletion: {} })).toMatchObject({ ok: true, events: [] });
    expect(
      decideSession(deleted, { kind: 'open', opening: { principal: { sub: 'bob' }, formatVersion: 1 } }),
    ).toMatchObject({
      code: 'session_deleted',
    });
  });

  it('cannot be made from events that are not its own', () => {
    expect(() => evolveSession(null, { type: 'session.deleted', payload: {} })).toThrow('first event');
    expect(() => evolveSession(null, { type: 'model.cancelled', payload: { basis: 'reported' } })).toThrow('session');
  });
});
