import { describe, expect, it } from '@jest/globals';
import { CountersignError } from '../domain/errors/countersign-error.js';
import { callTraceIds } from './tracing/trace-context.js';
import { errorName, PinoLogger, SilentLogger, type LogLevel } from './logger.js';

function logged(level: LogLevel, write: (logger: PinoLogger) => void): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  write(new PinoLogger(level, { write: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) }));
  return lines;
}

describe('the log', () => {
  it('is one JSON object per line with the time, the message and its fields', () => {
    expect(logged('info', (log) => log.info('started', { port: 7411, tls: false, host: null }))).toEqual([
      {
        level: 30,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        port: 7411,
        tls: false,
        host: null,
        msg: 'started',
      },
    ]);
  });

  it.each([
    ['error', ['error']],
    ['warn', ['error', 'warn']],
    ['info', ['error', 'warn', 'info']],
    ['debug', ['error', 'warn', 'info', 'debug']],
    ['fatal', []],
  ] as const)('at level %s holds %p', (level, messages) => {
    const lines = logged(level, (log) => {
      log.error('error');
      log.warn('warn');
      log.info('info');
      log.debug('debug');
    });
    expect(lines.map(({ msg }) => msg)).toEqual(messages);
  });

  it('cuts what is too long to be an id or a code', () => {
    const [line] = logged('info', (log) => log.info('x', { id: 'a'.repeat(10_000), short: 'a'.repeat(256) }));
    expect(String(line?.['id'])).toHaveLength(257);
    expect(String(line?.['short'])).toHaveLength(256);
  });

  it('names the trace of the call that a line is about', () => {
    const toolCallId = 'call_01jgfjjk00aaaaaaaaaaaaaaaa';
    const [derived] = logged('info', (log) => log.info('x', { toolCallId }));
    expect(derived).toMatchObject({ traceId: callTraceIds(toolCallId).traceId, toolCallId });
    const [adopted, other] = logged('info', (log) => {
      log.traceIdOf = () => 'of its caller';
      log.info('x', { toolCallId });
      log.info('x', { capability: 'a.b' });
    });
    expect(adopted).toMatchObject({ traceId: 'of its caller', toolCallId });
    expect(other).not.toHaveProperty('traceId');
  });

  it('says which levels are written', () => {
    const log = new PinoLogger('warn', { write: () => undefined });
    expect([log.isOn('error'), log.isOn('warn'), log.isOn('info')]).toEqual([true, true, false]);
    expect(new SilentLogger().isOn('error')).toBe(false);
  });

  it('can be silent', () => {
    const log = new SilentLogger();
    expect([log.error(), log.warn(), log.info(), log.debug()]).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe('the name of an error', () => {
  it.each([
    [new TypeError('hunter2'), 'TypeError'],
    [new CountersignError('overloaded', 'hunter2'), 'CountersignError:overloaded'],
    [Object.assign(new Error('hunter2'), { code: 'ENOENT' }), 'Error:ENOENT'],
    [Object.assign(new Error('hunter2'), { code: 7 }), 'Error'],
    ['hunter2', 'string'],
    [undefined, 'undefined'],
    [null, 'object'],
  ])('of %p holds none of its text', (error, name) => {
    expect(errorName(error)).toBe(name);
  });
});
