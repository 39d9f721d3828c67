import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { EXPECTED_CASES, caseProblems } from './cases.js';
import { titlesBelow, titlesOf } from './test-titles.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('test/cases.yaml', () => {
  it('answers for every kind of failure with tests that exist and run', () => {
    const cases: unknown = parse(readFileSync(`${ROOT}test/cases.yaml`, 'utf8'), { uniqueKeys: true });
    expect(caseProblems(cases, titlesBelow(ROOT))).toEqual([]);
    expect(EXPECTED_CASES).toHaveLength(175);
    expect(new Set(EXPECTED_CASES).size).toBe(175);
  });
});

describe('the check of the list', () => {
  const titles = { running: new Set(['runs once', '%s']), held: new Set(['sleeps']) };
  const problems = (entry: unknown): string[] => caseProblems({ A01: entry }, titles, ['A01']);

  it('takes an entry that names tests, later work or a reason', () => {
    expect(problems({ case: 'x', tests: ['runs once'] })).toEqual([]);
    expect(problems({ case: 'x', elsewhere: '4 · durable sessions: append and flush' })).toEqual([]);
    expect(problems({ case: 'x', impossible: 'there is no such surface in this product' })).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ['a test that does not exist', { case: 'x', tests: ['runs twice'] }, 'there is no test "runs twice"'],
    ['a test that is held back', { case: 'x', tests: ['sleeps'] }, '"sleeps" is held back'],
    ['a title that is a placeholder', { case: 'x', tests: ['%s'] }, '"%s" names nothing'],
    ['a title that is none', { case: 'x', tests: [7] }, 'a title is no text'],
    ['no tests', { case: 'x', tests: [] }, 'names no test'],
    ['no words', { tests: ['runs once'] }, 'does not say what the case is'],
    ['no answer', { case: 'x' }, 'needs exactly one of tests, elsewhere and impossible'],
    [
      'two answers',
      { case: 'x', tests: ['runs once'], impossible: 'y' },
      'needs exactly one of tests, elsewhere and impossible',
    ],
    ['another word', { case: 'x', todo: 'later' }, '"todo" is no answer'],
    ['a place that is no issue', { case: 'x', elsewhere: 'later' }, 'names no issue, as `4 · its words`'],
    ['no reason', { case: 'x', impossible: '' }, 'gives no reason'],
    ['nothing', null, 'no entry'],
  ])('finds %s', (_, entry, problem) => {
    expect(problems(entry)).toEqual([`A01: ${problem}`]);
  });

  it('finds a kind that is missing and one that nobody asked for', () => {
    expect(caseProblems({ Z99: { case: 'x', tests: ['runs once'] } }, titles, ['A01'])).toEqual([
      'A01: missing',
      'Z99: nobody asked for it',
    ]);
    expect(caseProblems([], titles)).toEqual(['the list is no map']);
  });
});

describe('the titles of tests', () => {
  it('are found in every form, and those that are held back are known', () => {
    const found = titlesOf(`
      it('plain', () => {});
      it.each([1])('each %i', () => {});
      describe('block', () => { test('inside', () => {}); });
      (canTrace ? it : it.skip)('where it can', () => {});
      (canTrace ? it : it.skip).each([1])('where it can, each', () => {});
      it.skip('skipped', () => {});
      it.only.each([1])('only', () => {});
      it.todo('later');
      xit('crossed out', () => {});
      describe.skip('quiet', () => { it('asleep', () => {}); });
      other('no test', () => {});
    `);
    expect([...found.running]).toEqual(['plain', 'each %i', 'inside', 'where it can', 'where it can, each']);
    expect([...found.held]).toEqual(['skipped', 'only', 'later', 'crossed out', 'asleep']);
  });
});
