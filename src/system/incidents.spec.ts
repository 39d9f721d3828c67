import { EventEmitter } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { watchIncidents } from './incidents.js';
import { PinoLogger } from './logger.js';

type Line = Readonly<Record<string, unknown>>;

function watched(): { source: EventEmitter; lines: Line[]; ended: () => number } {
  const source = new EventEmitter();
  const lines: Line[] = [];
  let ends = 0;
  const logger = new PinoLogger('info', {
    write: (text) => {
      const { time: _time, level: _level, ...line } = JSON.parse(text) as Line;
      lines.push(line);
    },
  });
  watchIncidents(source, logger, () => (ends += 1));
  return { source, lines, ended: () => ends };
}

function failure(stack: string): Error {
  const error = new TypeError('sk_live_secret');
  error.stack = stack;
  return error;
}

const STACK = `TypeError: sk_live_secret
    at Readable.emit (node:events:524:28)
    at Tool.read (file:///opt/countersign/dist/proxy/connectors/http.connector.js:93:11)
    at file:///opt/countersign/dist/main.js:2:1`;

describe('an error that reaches nobody', () => {
  it('as a rejection is logged by name and place, counted, and ends nothing', () => {
    const { source, lines, ended } = watched();
    source.emit('unhandledRejection', failure(STACK), Promise.resolve());
    source.emit('unhandledRejection', 'just a text', Promise.resolve());
    const msg = 'a rejection reached nobody';
    expect(lines).toEqual([
      { msg, error: 'TypeError', at: 'dist/proxy/connectors/http.connector.js:93', count: 1 },
      { msg, error: 'string', at: null, count: 2 },
    ]);
    expect(ended()).toBe(0);
  });

  it('as an exception is logged and ends the process', () => {
    const { source, lines, ended } = watched();
    source.emit('uncaughtException', failure(STACK));
    expect(lines).toEqual([
      {
        msg: 'an exception reached nobody; the process ends',
        error: 'TypeError',
        at: 'dist/proxy/connectors/http.connector.js:93',
      },
    ]);
    expect(ended()).toBe(1);
  });

  it('tells nothing of its message, whatever the message looks like', () => {
    const { source, lines } = watched();
    source.emit('unhandledRejection', failure('Error: sk_live_secret (file:///x/y.js:1:1)\n at nowhere'));
    expect(JSON.stringify(lines)).not.toContain('sk_live');
    expect(lines[0]).toMatchObject({ at: null });
  });
});
