import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const SOURCES = fileURLToPath(new URL('../../src/', import.meta.url));

const sources = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
  .map((file) => ({ file, text: readFileSync(`${SOURCES}${file}`, 'utf8') }));

interface Found {
  readonly name: string;
  readonly file: string;
}

function found(pattern: RegExp): Found[] {
  return sources.flatMap(({ file, text }) =>
    [...text.matchAll(pattern)].map((match) => ({ name: match[1] as string, file })),
  );
}

const MESSAGES = {
  command: {
    messages: found(/export class (\w+) extends Command</g),
    handled: found(/@CommandHandler\((\w+)\)/g),
    handlers: found(/@CommandHandler\(\w+\)\s*export class (\w+)/g),
  },
  query: {
    messages: found(/export class (\w+) extends Query</g),
    handled: found(/@QueryHandler\((\w+)\)/g),
    handlers: found(/@QueryHandler\(\w+\)\s*export class (\w+)/g),
  },
};

/** Where lists of providers are: the composition, and the lists that it takes from folders. */
const isList = (file: string): boolean => file === 'app.module.ts' || file.endsWith('.providers.ts');

/** What they name: every word that no import gives. */
const composed = sources
  .filter(({ file }) => isList(file))
  .map(({ text }) => text.replace(/^import [^;]*;$/gm, ''))
  .join('');
const timesProvided = (name: string): number => [...composed.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length;

const names = (list: readonly Found[]): string[] => list.map(({ name }) => name).toSorted();

describe.each(['command', 'query'] as const)('each %s', (kind) => {
  const { messages, handled, handlers } = MESSAGES[kind];

  it('has exactly one handler, and every handler handles one', () => {
    expect(messages.length).toBeGreaterThan(3);
    expect(names(handled)).toEqual(names(messages));
    expect(new Set(names(messages)).size).toBe(messages.length);
  });

  it('has a handler that the composition provides once', () => {
    expect(handlers).toHaveLength(handled.length);
    for (const { name } of handlers) expect([name, timesProvided(name)]).toEqual([name, 1]);
  });

  it('is handled where its kind belongs', () => {
    const folder = kind === 'command' ? /^control\// : /^runtime\//;
    expect([...messages, ...handled].filter(({ file }) => !folder.test(file))).toEqual([]);
  });
});

describe('commands and queries', () => {
  it('are handled in control and runtime alone', () => {
    const elsewhere = sources
      .filter(({ file }) => !/^(control|runtime)\//.test(file))
      .filter(({ text }) => /@(Command|Query|Events?)Handler\(/.test(text));
    expect(elsewhere.map(({ file }) => file)).toEqual([]);
  });

  it('are sent by somebody', () => {
    for (const { name, file } of [...MESSAGES.command.messages, ...MESSAGES.query.messages]) {
      const senders = sources.filter((source) => source.file !== file && source.text.includes(`new ${name}(`));
      expect([name, senders.length > 0]).toEqual([name, true]);
    }
  });
});
