import { describe, expect, it } from '@jest/globals';
import { decideCheckpoint, evolveCheckpoint, type CheckpointCommand } from './checkpoint.decide.js';
import type { CheckpointState } from './checkpoint.state.js';

const CREATE: CheckpointCommand = { kind: 'create', creation: { checkpointId: 'chk_1', kind: 'suspended' } };
const DECIDE: CheckpointCommand = {
  kind: 'decide_compatibility',
  decision: { checkpointId: 'chk_1', verdict: 'migrate', from: 'a', to: 'b' },
};
const ARCHIVE: CheckpointCommand = { kind: 'archive', checkpointId: 'chk_1' };

function after(...commands: readonly CheckpointCommand[]): CheckpointState | null {
  let state: CheckpointState | null = null;
  for (const command of commands) {
    const decided = decideCheckpoint(state, command);
    if (!decided.ok) throw new Error(decided.code);
    for (const event of decided.events) state = evolveCheckpoint(state, event);
  }
  return state;
}

const typesOf = (state: CheckpointState | null, command: CheckpointCommand): readonly string[] => {
  const decided = decideCheckpoint(state, command);
  return decided.ok ? decided.events.map(({ type }) => type) : [decided.code];
};

describe('a checkpoint', () => {
  it('is created once, may be judged while it is open, and is archived once', () => {
    expect(after(CREATE)).toEqual({ status: 'open', kind: 'suspended', verdict: null });
    expect(after(CREATE, DECIDE)).toEqual({ status: 'open', kind: 'suspended', verdict: 'migrate' });
    expect(after(CREATE, DECIDE, ARCHIVE)).toEqual({ status: 'archived', kind: 'suspended', verdict: 'migrate' });
  });

  it.each([
    ['created again', after(CREATE), CREATE],
    ['archived again', after(CREATE, ARCHIVE), ARCHIVE],
    ['judged after its end', after(CREATE, ARCHIVE), DECIDE],
  ] as const)('that is %s records nothing', (_how, state, command) => {
    expect(typesOf(state, command)).toEqual([]);
  });

  it('that was never created is a broken invariant', () => {
    expect(() => decideCheckpoint(null, ARCHIVE)).toThrow('created before');
    expect(() => evolveCheckpoint(null, { type: 'checkpoint.archived', payload: { checkpointId: 'chk_1' } })).toThrow(
      'first event',
    );
    expect(() => evolveCheckpoint(null, { type: 'session.deleted', payload: {} })).toThrow('not an event');
  });
});
