import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { ERRORS } from '../../src/domain/errors/error-codes.js';
import { SESSION_CATALOGUE } from '../../src/domain/session/session-catalogue.js';
import { withHarnessEvents } from './session-events.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = `${ROOT}docs/sessions.md`;
const page = (): string => readFileSync(PAGE, 'utf8');

describe('docs/sessions.md', () => {
  it('lists what a harness may append as the catalogue has it (UPDATE_DOCS=1 writes it anew)', () => {
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(PAGE, withHarnessEvents(page()));
    expect(page()).toBe(withHarnessEvents(page()));
    expect(() => withHarnessEvents('a page without a place')).toThrow('no place');
  });

  it('names every type that is for the session itself to write, and no type that is none', () => {
    const own = Object.entries(SESSION_CATALOGUE).filter(
      ([, { producers }]) => !producers.some((producer) => producer === 'harness'),
    );
    for (const [type] of own) expect(page()).toContain(`\`${type}\``);
    const words = [
      ...page().matchAll(/`((?:user|assistant|tool|turn|step|notice|system|usage|plan|skill)\.[a-z_.]+)`/gu),
    ];
    expect(words.length).toBeGreaterThan(10);
    for (const [, type = ''] of words) expect(Object.keys(SESSION_CATALOGUE)).toContain(type);
  });

  it('names error codes that exist, and nothing by a link that leads nowhere', () => {
    const codes = [...page().matchAll(/\b(?:409|503|410) `([a-z_]+)`/gu)].map(([, code]) => code);
    expect(codes.length).toBeGreaterThan(3);
    expect(codes.filter((code) => !Object.hasOwn(ERRORS, code ?? ''))).toEqual([]);
    const links = [...page().matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/gu)].map(([, link]) => link ?? '');
    expect(links.filter((link) => !existsSync(`${ROOT}docs/${link}`))).toEqual([]);
  });

  it('links each of the five judgements to the tests that show it [A-133]', () => {
    const section = page().split('## Five judgements')[1]?.split('\n## ')[0] ?? '';
    const judgements = section.split('\n').filter((line) => line.startsWith('| **'));
    expect(judgements).toHaveLength(5);
    for (const judgement of judgements) expect(judgement).toMatch(/\]\(\.\.\/[^)]+\.spec\.ts\)/u);
    expect(readFileSync(`${ROOT}README.md`, 'utf8')).toContain('docs/sessions.md#five-judgements');
  });

  it('draws the way to the disk and the way back [D-83]', () => {
    const [, drawing = ''] = page().split('```');
    const inOrder = (...words: readonly string[]): void => {
      const places = words.map((word) => drawing.indexOf(word));
      expect(places).toEqual(places.toSorted((left, right) => left - right));
      expect(places).not.toContain(-1);
    };
    inOrder('append', 'observers', 'enqueue', 'active', 'flush', 'backend');
    inOrder('prefix', 'validate', 'repair', 'preparation');
  });
});

describe('the window of the writes', () => {
  const PROMISE =
    /at most \d+ ?(?:ms|milliseconds)[^.]{0,60}\b(?:lost|loses?|loss)\b|\b(?:lost|loses?|loss)\b[^.]{0,60}at most \d+ ?(?:ms|milliseconds)/iu;

  it('is promised by no text to bound what is lost [D-52]', () => {
    expect('a crash loses at most 200 ms of events').toMatch(PROMISE);
    expect('at most 200 milliseconds are lost').toMatch(PROMISE);
    const texts = ['docs', 'src', 'config', 'README.md', 'CHANGELOG.md'].flatMap((place) =>
      place.endsWith('.md')
        ? [place]
        : readdirSync(`${ROOT}${place}`, { recursive: true, encoding: 'utf8' })
            .filter((name) => /\.(?:ts|md|yaml)$/u.test(name))
            .map((name) => `${place}/${name}`),
    );
    expect(texts.length).toBeGreaterThan(500);
    expect(texts.filter((name) => PROMISE.test(readFileSync(`${ROOT}${name}`, 'utf8')))).toEqual([]);
    expect(page()).toMatch(/longest \*intended\* wait/u);
    expect(page().replaceAll('\n', ' ')).toContain(
      'neither a deadline for its completion nor a bound on what a crash loses',
    );
  });
});
