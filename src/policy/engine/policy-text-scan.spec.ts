import { describe, expect, it } from '@jest/globals';
import { POLICY_LIMITS, scanPolicyText } from './policy-text-scan.js';

const policy = (condition: string): string =>
  `@id("a")\npermit(principal, action, resource) when {\n${condition}\n};\n`;
const { nestingMax, operatorsMax, accessesMax, policyUnitsMax, policiesPerFileMax } = POLICY_LIMITS;

describe('the look at policy text before the engine sees it', () => {
  it('ordinary policies pass', () => {
    expect(scanPolicyText(policy('context.input.amount > 5 && !(principal has agent)'))).toEqual([]);
    expect(scanPolicyText('')).toEqual([]);
  });

  it.each([
    ['(', ')'],
    ['[', ']'],
    ['{', '}'],
  ])('%s may be nested up to the limit', (open, close) => {
    // One level is the `when { }` around it.
    const nested = (depth: number) => policy(open.repeat(depth - 1) + close.repeat(depth - 1));
    expect(scanPolicyText(nested(nestingMax))).toEqual([]);
    expect(scanPolicyText(nested(nestingMax + 1))).toEqual([{ line: 3, message: expect.stringContaining('brackets') }]);
  });

  it.each(['||', '&&', '+', '-', '*'])('terms joined by %s are limited', (operator) => {
    const joined = (count: number) => policy(Array.from({ length: count + 1 }, () => 'x').join(` ${operator} `));
    expect(scanPolicyText(joined(operatorsMax))).toEqual([]);
    expect(scanPolicyText(joined(operatorsMax + 1))).toEqual([{ line: 3, message: expect.stringContaining('terms') }]);
  });

  it('all joining words count together, wherever they stand', () => {
    const half = Array.from({ length: operatorsMax / 2 + 1 }, () => 'x').join(' || ');
    expect(scanPolicyText(policy(`if (${half}) then x else (${half})`))).toHaveLength(1);
  });

  it('if is a word, not a part of one', () => {
    expect(scanPolicyText(policy('notif '.repeat(operatorsMax + 1)))).toEqual([]);
    expect(scanPolicyText(policy('if x then x else '.repeat(operatorsMax + 1)))).toHaveLength(1);
  });

  it('accesses are limited', () => {
    expect(scanPolicyText(policy(`context${'.a'.repeat(accessesMax)}`))).toEqual([]);
    expect(scanPolicyText(policy(`context${'.a'.repeat(accessesMax + 1)}`))).toHaveLength(1);
    expect(scanPolicyText(policy(`A${'::A'.repeat(accessesMax + 1)}`))).toHaveLength(1);
  });

  it('texts and comments do not count, and do not hide what follows them', () => {
    const noise = '((((||||'.repeat(100);
    expect(scanPolicyText(policy(`"${noise}" == "\\"${noise}" // ${noise}`))).toEqual([]);
    expect(scanPolicyText(`@reason("a // \\\\")\n${policy('('.repeat(nestingMax))}`)).toHaveLength(1);
    expect(scanPolicyText(`// a " quote\n${policy('('.repeat(nestingMax))}`)).toHaveLength(1);
  });

  it('closing brackets that nobody opened buy nothing', () => {
    expect(scanPolicyText(`${')'.repeat(1000)}${'('.repeat(nestingMax + 1)}`)).toHaveLength(1);
  });

  it('each policy has the limits for itself and is told of once', () => {
    const heavy = policy(Array.from({ length: operatorsMax }, () => 'x').join(' || '));
    expect(scanPolicyText(heavy.repeat(5))).toEqual([]);
    const bad = policy('('.repeat(200));
    expect(scanPolicyText(`${bad}${policy('true')}${bad}`).map(({ line }) => line)).toEqual([3, 11]);
  });

  it('the size of one policy and the number of policies in a file are limited', () => {
    expect(scanPolicyText(policy(`"${'x'.repeat(policyUnitsMax)}"`))).toHaveLength(1);
    expect(scanPolicyText(';'.repeat(policiesPerFileMax))).toEqual([]);
    expect(scanPolicyText(';'.repeat(policiesPerFileMax + 1))).toHaveLength(1);
  });

  it('a megabyte of one text is looked at in no time', () => {
    const started = process.cpuUsage().user;
    scanPolicyText(`"${'\\"x'.repeat(350_000)}`);
    scanPolicyText('"'.repeat(1_000_000));
    expect(process.cpuUsage().user - started).toBeLessThan(2_000_000);
  });
});
