import { describe, expect, it, jest, beforeEach, afterEach } from '@jest/globals';
import { Installation } from '../../../test/builders/installation.js';
import { GuardFailed } from '../../storage/unit.js';
import { SentNote } from './sent-note.js';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance', 'Date'] });
});

afterEach(() => {
  jest.useRealTimers();
});

async function begin(): Promise<{ installation: Installation; note: SentNote; id: string }> {
  const installation = new Installation();
  const id = await installation.propose();
  const note = new SentNote(await installation.call(id), installation.desk, installation.recorder);
  return { installation, note, id };
}

describe('the note that a request was sent', () => {
  it('knows when, from the first time on', async () => {
    const { installation, note } = await begin();
    expect(note.at).toBeNull();
    note.mark(50);
    installation.clock.advance(10);
    note.mark(50);
    expect(note.at).toBe('2031-01-01T10:00:00.000Z');
  });

  it('shares the unit of an answer that comes soon', async () => {
    const { installation, note, id } = await begin();
    note.mark(50);
    jest.advanceTimersByTime(49);
    const call = await note.stop();
    jest.advanceTimersByTime(1000);
    expect(installation.store.lastTypes).not.toContain('tool.call.dispatched');
    expect(call.row).toEqual((await installation.call(id)).row);
  });

  it('is a fact of its own where no answer comes', async () => {
    const { installation, note, id } = await begin();
    note.mark(50);
    jest.advanceTimersByTime(50);
    const call = await note.stop();
    expect(installation.store.lastTypes).toEqual(['tool.call.dispatched']);
    expect(installation.store.events.at(-1)?.payload).toEqual({ dispatchedAt: '2031-01-01T10:00:00.000Z' });
    expect(call.state.status).toBe('dispatched');
    expect(call.row).toEqual((await installation.call(id)).row);
  });

  it('leaves it to the end of the attempt where it cannot be recorded', async () => {
    const { installation, note } = await begin();
    installation.store.beforeCommit = () => {
      throw new GuardFailed('tool_call');
    };
    note.mark(50);
    jest.advanceTimersByTime(50);
    expect((await note.stop()).state.status).toBe('dispatching');
  });

  it('records nothing of what was never sent', async () => {
    const { installation, note } = await begin();
    jest.advanceTimersByTime(1000);
    await note.stop();
    expect(installation.store.units).toHaveLength(1);
  });
});
