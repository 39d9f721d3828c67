import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AnnotationProblem, PolicyAnnotations } from './annotations.js';
import { readAnnotations, tierOf } from './annotations.js';

type Raw = readonly (readonly [string, string | null])[];

const GROUPS = ['support-lead', 'finance'];
const ASK: Raw = [
  ['id', 'ask'],
  ['on_deny', 'requires_confirmation'],
  ['approvers', 'finance'],
];

function read(effect: 'permit' | 'forbid', raw: Raw): PolicyAnnotations {
  const result = readAnnotations(effect, raw, GROUPS);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.annotations;
}

function problems(effect: 'permit' | 'forbid', raw: Raw): readonly AnnotationProblem[] {
  const result = readAnnotations(effect, raw, GROUPS);
  return result.ok ? [] : result.problems;
}

const named = (effect: 'permit' | 'forbid', raw: Raw): string[] =>
  problems(effect, raw).map(({ annotation }) => annotation);

describe('annotations of a policy', () => {
  it('a forbid with all that people need to lift it is read in milliseconds', () => {
    const annotations = read('forbid', [
      ...ASK,
      ['quorum', '2'],
      ['not_requester', 'false'],
      ['approval_ttl', '3600'],
      ['execution_window', '900'],
      ['reason', 'Needs finance.'],
    ]);
    expect(annotations).toEqual({
      id: 'ask',
      effect: 'forbid',
      reason: 'Needs finance.',
      ask: { group: 'finance', quorum: 2, notRequester: false, decideWithinMs: 3_600_000, executionWindowMs: 900_000 },
      unattended: null,
      limits: [],
      lease: null,
    });
    expect(tierOf(annotations)).toBe('forbid.confirm');
  });

  it('a quorum that is not said is one, and who may not decide is left to the risk of the call', () => {
    expect(read('forbid', ASK).ask).toEqual({
      group: 'finance',
      quorum: 1,
      notRequester: null,
      decideWithinMs: null,
      executionWindowMs: null,
    });
  });

  it('a forbid without @on_deny is final', () => {
    expect(tierOf(read('forbid', [['id', 'hard']]))).toBe('forbid.hard');
  });

  it('a permit may say why nobody is asked and what lease its calls get', () => {
    const annotations = read('permit', [
      ['id', 'p'],
      ['unattended', 'Amounts are tiny.'],
      ['lease', 'ttl=120;max_ttl=300;max_uses=1;scope=refund:create'],
    ]);
    expect(tierOf(annotations)).toBe('permit');
    expect(annotations.unattended).toBe('Amounts are tiny.');
    expect(annotations.lease).toEqual({ ttlMs: 120_000, ttlMsMax: 300_000, usesMax: 1, scopes: ['refund:create'] });
  });

  it('every policy names itself', () => {
    expect(named('permit', [])).toEqual(['id']);
    expect(named('permit', [['id', null]])).toEqual(['id']);
  });

  it.each(['on_deny', 'quorum', 'approvers', 'not_requester', 'approval_ttl', 'execution_window'])(
    'a permit cannot carry @%s, because it asks nobody',
    (name) => {
      expect(
        named('permit', [
          ['id', 'p'],
          [name, '1'],
        ]),
      ).toEqual([name]);
    },
  );

  it.each(['unattended', 'lease'])('a forbid cannot carry @%s', (name) => {
    expect(
      named('forbid', [
        ['id', 'p'],
        [name, 'x'],
      ]),
    ).toEqual([name]);
  });

  it('@on_deny without @approvers is refused: somebody must be asked', () => {
    expect(
      named('forbid', [
        ['id', 'f'],
        ['on_deny', 'requires_confirmation'],
      ]),
    ).toEqual(['approvers']);
  });

  it('what belongs to a question is refused on a forbid that asks none, so a lost @on_deny is noticed', () => {
    expect(
      named('forbid', [
        ['id', 'f'],
        ['quorum', '2'],
        ['approvers', 'finance'],
      ]),
    ).toEqual(['quorum', 'approvers']);
  });

  it('an annotation given twice is refused', () => {
    expect(
      problems('permit', [
        ['id', 'a'],
        ['id', 'b'],
      ]),
    ).toEqual([{ annotation: 'id', message: 'is given twice' }]);
  });

  it('every problem is listed, not only the first', () => {
    const raw: Raw = [
      ['quorum', '0'],
      ['on_deny', 'ask'],
      ['approvers', 'nobody'],
      ['approval_ttl', '9'],
      ['tier', 'hard'],
      ['reason', ''],
    ];
    expect(named('forbid', raw).toSorted()).toEqual([
      'approval_ttl',
      'approvers',
      'id',
      'on_deny',
      'quorum',
      'reason',
      'tier',
    ]);
  });

  it.each([
    ['quorum', ['0', '11', '-1', '1.5', '01', ' 1', '1e0', '', 'two', '9007199254740993']],
    ['approval_ttl', ['9', '2592001', '1h', '']],
    ['execution_window', ['9', '2592001', '']],
    ['not_requester', ['True', 'yes', '1', '']],
    ['on_deny', ['requires_manual', 'confirm', 'Requires_confirmation', '']],
    ['approvers', ['support', 'finance ', '']],
    ['id', ['', 'a b', '-a', 'ä', 'a'.repeat(65), 'a\n']],
    ['reason', ['', ' ', 'a\u202eb', 'a\u0000', 'x'.repeat(501), 'line\nline']],
  ])('@%s does not take a value it does not understand', (name, values) => {
    for (const value of values) {
      const others = ASK.filter(([other]) => other !== name);
      expect({ value, named: named('forbid', [...others, [name, value]]) }).toEqual({
        value,
        named: expect.arrayContaining([name]),
      });
    }
  });

  it('no name but the known ones is ever accepted', () => {
    const known = [
      'id',
      'on_deny',
      'quorum',
      'approvers',
      'not_requester',
      'approval_ttl',
      'execution_window',
      'reason',
      'unattended',
      'lease',
    ];
    fc.assert(
      fc.property(
        fc.constantFrom('permit' as const, 'forbid' as const),
        fc.string(),
        fc.string(),
        (effect, name, text) => {
          fc.pre(!known.includes(name));
          expect(
            named(effect, [
              ['id', 'a'],
              [name, text],
            ]),
          ).toContain(name);
        },
      ),
    );
  });

  it('whatever the texts are, a forbid is liftable only when @on_deny and a configured group are both right', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('requires_confirmation', 'finance', '1', 'true', '60'));
    const name = fc.constantFrom('on_deny', 'quorum', 'approvers', 'not_requester', 'approval_ttl', 'reason');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, text), { maxLength: 6 }), (raw) => {
        const result = readAnnotations('forbid', [['id', 'f'], ...raw], GROUPS);
        if (!result.ok || result.annotations.ask === null) return;
        const said = new Map(raw);
        expect(said.get('on_deny')).toBe('requires_confirmation');
        expect(GROUPS).toContain(said.get('approvers'));
      }),
    );
  });
});
