import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { StopSignals } from './stop-signals.js';

function listening(): { source: EventEmitter; signals: StopSignals; at: (ms: number) => void } {
  const source = new EventEmitter();
  let now = 0;
  const signals = StopSignals.listen(source, () => now);
  return { source, signals, at: (ms) => (now = ms) };
}

describe('the signals that stop a server', () => {
  it.each(['SIGTERM', 'SIGINT'])('are %s, by its name', async (name) => {
    const { source, signals } = listening();
    source.emit(name, name);
    await expect(signals.stop).resolves.toBe(name);
    expect(signals.hurry.aborted).toBe(false);
  });

  it('are one wish when they come together', () => {
    const { source, signals, at } = listening();
    source.emit('SIGINT', 'SIGINT');
    at(999);
    source.emit('SIGINT', 'SIGINT');
    source.emit('SIGTERM', 'SIGTERM');
    expect(signals.hurry.aborted).toBe(false);
  });

  it('ask for a hurry when one comes a second or more after the first', () => {
    const { source, signals, at } = listening();
    source.emit('SIGTERM', 'SIGTERM');
    at(1000);
    source.emit('SIGINT', 'SIGINT');
    expect(signals.hurry.aborted).toBe(true);
  });
});
