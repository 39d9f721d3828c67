import { beforeAll, describe, expect, it } from '@jest/globals';
import { InProcessPolicyEvaluator } from '../../../src/policy/engine/in-process-policy-evaluator.js';
import type { LoadReport, PolicyCandidate } from '../../../src/policy/engine/policy-set.js';
import { PERMIT_ALL, READ, REFUNDS, candidate, canonical, capability } from './policy-fixtures.js';

let evaluator: InProcessPolicyEvaluator;

beforeAll(async () => {
  evaluator = await InProcessPolicyEvaluator.create();
});

const load = (text: string, over: Partial<PolicyCandidate> = {}) => evaluator.load(candidate(text, over));
const codes = ({ problems }: LoadReport) => problems.map(({ code }) => code);
const ASK = '@id("ask") @on_deny("requires_confirmation") @approvers("finance")';
const UNLESS_FINANCE = 'unless { context.approvals.finance.count >= 1 }';

describe('a policy set that is refused', () => {
  it.each<[string, string, string]>([
    ['text that is not Cedar', '@id("a") permit(principal, action, resource', 'syntax'],
    ['a text without an end', `@id("a permit(principal, action, resource) when { ${'('.repeat(500)} };`, 'syntax'],
    ['an annotation given twice', '@id("a") @id("b") permit(principal, action, resource);', 'syntax'],
    ['a template', '@id("a") permit(principal == ?principal, action, resource);', 'template'],
    ['no policy at all', '// nothing', 'no_policies'],
    ['a policy without an id', 'permit(principal, action, resource);', 'annotation'],
    ['a misspelt annotation', '@id("a") @aprovers("finance") forbid(principal, action, resource);', 'annotation'],
    [
      'a group nobody configured',
      '@id("a") @on_deny("requires_confirmation") @approvers("legal") forbid(principal, action, resource);',
      'annotation',
    ],
    ['an id used twice', `${PERMIT_ALL} ${PERMIT_ALL}`, 'duplicate_id'],
    [
      'text taken for a set: `in` never matches and the forbid is silently dropped',
      '@id("a") forbid(principal, action == Action::"refund.create", resource) when { context.input has currency && context.input.currency in ["a"] };',
      'validation',
    ],
    [
      'a misspelt argument',
      '@id("a") forbid(principal, action == Action::"refund.create", resource) when { context.input.amount > 5 };',
      'validation',
    ],
    [
      'an optional argument read without looking',
      '@id("a") forbid(principal, action == Action::"refund.create", resource) when { context.input.currency == "EUR" };',
      'validation',
    ],
    [
      'types that do not go together',
      '@id("a") forbid(principal, action == Action::"refund.create", resource) when { context.input.amountMinor == "5" };',
      'validation',
    ],
    ['an unknown action', '@id("a") forbid(principal, action == Action::"refund.creat", resource);', 'validation'],
    ['an unknown kind of principal', '@id("a") forbid(principal == Role::"agent", action, resource);', 'validation'],
    [
      'votes of a group nobody configured',
      '@id("a") forbid(principal, action, resource) when { context.approvals.legal.count > 0 };',
      'validation',
    ],
    [
      'a policy that can never apply (a warning of the engine)',
      '@id("a") forbid(principal, action, resource) when { false };',
      'validation',
    ],
    [
      'hidden characters in a text (a warning of the engine)',
      '@id("a") forbid(principal, action, resource) when { principal.sub == "a\u202eb" };',
      'validation',
    ],
    [
      'a misspelt capability in the scope',
      '@id("a") forbid(principal, action, resource == Capability::"refund.creat");',
      'unknown_capability',
    ],
    [
      'a misspelt capability in a condition',
      '@id("a") forbid(principal, action, resource) when { [Capability::"refunds"].contains(resource) };',
      'unknown_capability',
    ],
    [
      'a question whose answer nobody reads',
      `${ASK} forbid(principal, action, resource) when { context.attempt > 1 };`,
      'never_lifted',
    ],
    [
      'a question to one group that reads the votes of another',
      `${ASK} forbid(principal, action, resource) unless { context.approvals["support-lead"].count > 0 };`,
      'never_lifted',
    ],
    [
      'a policy that fails on plain arguments',
      '@id("a") forbid(principal, action, resource) when { 9223372036854775807 + context.attempt > 5 };',
      'self_test',
    ],
  ])('%s', async (_, text, code) => {
    expect((await load(PERMIT_ALL)).accepted).toBe(true);
    const before = evaluator.active?.revision;
    const report = await load(text);
    expect({ accepted: report.accepted, codes: codes(report) }).toEqual({
      accepted: false,
      codes: expect.arrayContaining([code]),
    });
    expect(evaluator.active?.revision).toBe(before);
    expect((await evaluator.decide(canonical())).outcome).toBe('allow');
  });

  it('two capabilities of one name', async () => {
    expect(codes(await load(PERMIT_ALL, { capabilities: [READ, READ] }))).toEqual(['duplicate_capability']);
  });

  it('every problem of every file is told, with file and line', async () => {
    const report = await load('', {
      files: [
        {
          name: 'a.cedar',
          text: '// ü\n\npermit(principal, action, resource);\n@id("b") forbid(\n  principal, action, resource\n) when {\n  context.none };',
        },
        { name: 'b.cedar', text: '@id("c") permit(principal, action, resource);\n\n{' },
        { name: 'c.cedar', text: '@id("b") @quorum("0") permit(principal, action, resource);' },
      ],
    });
    expect(report.problems.map(({ file, code }) => `${file} ${code}`)).toEqual([
      'b.cedar syntax',
      'a.cedar annotation',
      'c.cedar annotation',
      'a.cedar validation',
      'a.cedar validation',
    ]);
    const messages = report.problems.map(({ message }) => message);
    expect(messages[0]).toMatch(/^line 3: /);
    expect(messages[3]).toMatch(/^line 7: .*none/);
  });

  it('what was refused in its first evaluation left no trace in what is in force', async () => {
    const keep = `@id("keep") forbid(principal, action, resource) when { context.attempt == 1 }; ${PERMIT_ALL}`;
    // Twice, so that each of the two slots has been the one in force.
    for (const text of [
      keep,
      `${keep} @id("more") forbid(principal, action, resource) when { context.attempt == 9 };`,
    ]) {
      await load(text);
      const report = await load(
        '@id("x") permit(principal, action, resource) when { 9223372036854775807 + context.attempt > 5 };',
      );
      expect(codes(report)).toContain('self_test');
      expect((await evaluator.decide(canonical())).determining).toEqual(['keep']);
      expect((await evaluator.decide(canonical({ attempt: 2 }))).determining).toEqual(['permit-all']);
    }
  });
});

describe('whether people can be asked about what is dangerous', () => {
  const risky = (risk: 'high' | 'critical') => ({ capabilities: [capability({ risk }), READ] });
  const about = (action: string) =>
    `${ASK} forbid(principal, action == Action::"${action}", resource) ${UNLESS_FINANCE};`;

  it.each(['high', 'critical'] as const)(
    'risk %s without a question or an unattended permit is refused',
    async (risk) => {
      expect(codes(await load(PERMIT_ALL, risky(risk)))).toEqual(['nobody_asked']);
      expect(codes(await load(`${PERMIT_ALL} ${about('order.read')}`, risky(risk)))).toEqual(['nobody_asked']);
      expect((await load(`${PERMIT_ALL} ${about('refund.create')}`, risky(risk))).accepted).toBe(true);
    },
  );

  it('a global question counts for every capability it can apply to', async () => {
    const everywhere = `${ASK} forbid(principal, action, resource) ${UNLESS_FINANCE};`;
    expect((await load(`${PERMIT_ALL} ${everywhere}`, risky('high'))).accepted).toBe(true);
    const elsewhere = `${ASK} forbid(principal, action, resource == Capability::"order.read") ${UNLESS_FINANCE};`;
    expect(codes(await load(`${PERMIT_ALL} ${elsewhere}`, risky('high')))).toEqual(['nobody_asked']);
  });

  it('a question that the type checker knows can never be put does not count', async () => {
    const never = `${ASK} forbid(principal, action in [Action::"refund.create", Action::"order.read"], resource)
      when { !(context.input has amountMinor) } ${UNLESS_FINANCE};`;
    expect(codes(await load(`${PERMIT_ALL} ${never}`, risky('high')))).toEqual(['nobody_asked']);
  });

  it('a policy that names other actions in its conditions is understood all the same', async () => {
    const named = `${ASK} forbid(principal, action, resource) when { action != Action::"order.read" } ${UNLESS_FINANCE};`;
    expect((await load(`${PERMIT_ALL} ${named}`, risky('high'))).accepted).toBe(true);
  });

  it('a permit that says why nobody is asked is taken, and reported', async () => {
    const text = `@id("free") @unattended("Amounts are tiny.") permit(principal, action == Action::"refund.create", resource);`;
    expect((await load(text, risky('high'))).unattended).toEqual([
      { capability: 'refund.create', policyId: 'free', reason: 'Amounts are tiny.' },
    ]);
    const other = text.replace('refund.create', 'order.read');
    expect(codes(await load(other, risky('high')))).toEqual(['nobody_asked']);
  });

  it('low and medium risk need neither', async () => {
    const medium = await load(PERMIT_ALL, { capabilities: [capability({ risk: 'medium' })] });
    expect([medium.accepted, medium.unattended]).toEqual([true, []]);
  });
});

describe('a policy set that is accepted', () => {
  it('is known by a revision over its policies, its schema and the engine, and nothing else', async () => {
    const plain = await load(REFUNDS);
    expect(plain.revision).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(plain.schemaDigest).toMatch(/^sha256:[0-9a-f]{64}$/);
    const [first = '', ...rest] = REFUNDS.split(';\n');
    const moved = await load('', {
      files: [
        { name: 'z.cedar', text: `// a comment\n${rest.join(';\n')}` },
        { name: 'y.cedar', text: `\n\n${first};` },
      ],
    });
    expect(moved.revision).toBe(plain.revision);
    const edited = await load(REFUNDS.replace('5000', '5001'));
    expect(edited.revision).not.toBe(plain.revision);
    expect(edited.schemaDigest).toBe(plain.schemaDigest);
    const widened = await load(REFUNDS, { approverGroups: ['support-lead', 'finance', 'legal'] });
    expect(widened.schemaDigest).not.toBe(plain.schemaDigest);
    expect(widened.revision).not.toBe(plain.revision);
  });

  it('says which arguments policies cannot read', async () => {
    const inputSchema = { type: 'object', properties: { price: { type: 'number' }, id: { type: 'string' } } };
    const report = await load(PERMIT_ALL, { capabilities: [capability({ inputSchema })] });
    expect(report.accepted).toBe(true);
    expect(report.warnings).toEqual([
      expect.objectContaining({ code: 'unreadable_arguments', message: expect.stringContaining('/price, /*') }),
    ]);
  });

  it('says which policies read personal arguments', async () => {
    const given = { capabilities: [capability({ personal: ['/customer/name', '/tags/*'] }), READ] };
    const reading = `@id("r") forbid(principal, action == Action::"refund.create", resource) when { context.input has customer && context.input.customer has name };`;
    const report = await load(`${PERMIT_ALL} ${reading}`, given);
    expect(report.accepted).toBe(true);
    expect(report.warnings.map(({ code, policyId }) => [code, policyId])).toEqual([['personal_argument', 'r']]);
    const other = `@id("r") forbid(principal, action == Action::"refund.create", resource) when { context.input.amountMinor > 5 };`;
    expect((await load(`${PERMIT_ALL} ${other}`, given)).warnings).toEqual([]);
  });

  it('says where a policy demands more votes than it asks for', async () => {
    const demanding = (quorum: number) =>
      `${ASK} @quorum("${quorum}") forbid(principal, action, resource) unless { context.approvals.finance.count > 1 };`;
    const report = await load(`${PERMIT_ALL} ${demanding(1)}`);
    expect(report.warnings).toEqual([
      expect.objectContaining({ code: 'never_lifted', message: expect.stringContaining('demands 2') }),
    ]);
    expect((await evaluator.decide(canonical())).denyCode).toBe('forbidden');
    expect((await load(`${PERMIT_ALL} ${demanding(2)}`)).warnings).toEqual([]);
    expect((await evaluator.decide(canonical())).obligations?.rules).toEqual([
      { group: 'finance', count: 2, notRequester: false },
    ]);
  });

  it('a policy that counts no vote of the requester does not ask the requester, unless it says so', async () => {
    const policy = (annotation: string) => `${PERMIT_ALL} ${ASK} ${annotation} forbid(principal, action, resource)
      unless { context.approvals.finance.count >= 1 && !context.approvals.finance.includesRequester };`;
    const barred = async () => (await evaluator.decide(canonical())).obligations?.rules[0]?.notRequester;
    await load(policy(''));
    expect(await barred()).toBe(true);
    await load(policy('@not_requester("false")'));
    expect(await barred()).toBe(false);
  });

  it('several people of several groups can be asked at once', async () => {
    await load(`${PERMIT_ALL}
      @id("two") @on_deny("requires_confirmation") @approvers("finance") @quorum("2") @approval_ttl("120")
      forbid(principal, action, resource) unless { context.approvals.finance.count >= 2 };
      @id("lead") @on_deny("requires_confirmation") @approvers("support-lead") @execution_window("60")
      forbid(principal, action, resource) unless { context.approvals["support-lead"].count >= 1 };`);
    const asked = await evaluator.decide(canonical());
    expect(asked.obligations).toEqual({
      rules: [
        { group: 'finance', count: 2, notRequester: false },
        { group: 'support-lead', count: 1, notRequester: false },
      ],
      decideWithinMs: 60_000,
      executionWindowMs: 60_000,
    });
    const votes = (finance: number, lead: number) =>
      evaluator.decide(
        canonical({
          approvals: {
            finance: { count: finance, includesRequester: false },
            'support-lead': { count: lead, includesRequester: false },
          },
        }),
      );
    expect((await votes(2, 1)).outcome).toBe('allow');
    expect((await votes(1, 1)).obligations?.rules.map(({ group }) => group)).toEqual(['finance']);
    expect((await votes(2, 0)).obligations?.rules.map(({ group }) => group)).toEqual(['support-lead']);
  });
});
