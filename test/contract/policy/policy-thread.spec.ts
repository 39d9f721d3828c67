import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from '@jest/globals';
import { PolicyThread } from '../../../src/policy/engine/policy-thread.js';
import { scanPolicyText } from '../../../src/policy/engine/policy-text-scan.js';
import { PolicySource } from '../../../src/policy/engine/policy-source.js';
import type { PolicyThreadOptions } from '../../../src/policy/engine/thread-options.js';
import { PolicyService } from '../../../src/policy/policy.service.js';
import {
  BUILT_WORKER,
  PERMIT_ALL,
  READ,
  REFUNDS,
  candidate,
  canonical,
  capability,
  fixtureWorker,
  request,
} from './policy-fixtures.js';
import { loadInto } from '../../support/loaded-policies.js';

const running: PolicyThread[] = [];
const folders: string[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((thread) => thread.stop()));
  await Promise.all(folders.splice(0).map((dir) => rm(dir, { recursive: true })));
});

function start(over: Partial<PolicyThreadOptions> = {}) {
  const lost: string[] = [];
  const thread = new PolicyThread({
    evaluationTimeoutMs: 10_000,
    restartDelayMs: 10,
    entry: BUILT_WORKER,
    onLost: (code) => lost.push(code),
    ...over,
  });
  running.push(thread);
  return { thread, lost };
}

const moody = (over: Partial<PolicyThreadOptions> = {}) => start({ entry: fixtureWorker('moody'), ...over });

/** Waits for a condition that other threads bring about. */
async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    if (await condition()) return;
    await delay(20);
  }
  throw new Error('it never came true');
}

const allows = (thread: PolicyThread) => async () => (await thread.decide(canonical())).outcome === 'allow';

describe('policy evaluation on a thread', () => {
  it('denies everything before there is a policy set', async () => {
    const { thread } = start();
    expect(await thread.decide(canonical())).toMatchObject({
      outcome: 'deny',
      denyCode: 'engine_error',
      engineErrors: ['no_active_set'],
      policyRevision: 'none',
      requestDigest: canonical().digest,
    });
    expect(await thread.probe()).toBe(false);
    expect(thread.active).toBeNull();
  });

  it('gives all three answers, each with the request it answers', async () => {
    const { thread } = start();
    const report = await thread.load(candidate(REFUNDS));
    expect(report).toMatchObject({ accepted: true, policyIds: ['ask-lead', 'never', 'permit-all'], problems: [] });
    const amounts = [1, 6000, 200_000, 5000, 100_001, 5001];
    const decisions = await Promise.all(
      amounts.map((amountMinor) => thread.decide(canonical({ input: { orderId: 'o', amountMinor } }))),
    );
    expect(decisions.map(({ outcome }) => outcome)).toEqual([
      'allow',
      'requires_confirmation',
      'deny',
      'allow',
      'deny',
      'requires_confirmation',
    ]);
    for (const [index, decision] of decisions.entries()) {
      expect(decision.requestDigest).toBe(
        canonical({ input: { orderId: 'o', amountMinor: amounts[index] as number } }).digest,
      );
      expect(decision).toMatchObject({ policyRevision: report.revision, schemaDigest: report.schemaDigest });
    }
    expect(await thread.probe()).toBe(true);
  });

  it('many requests at once each get their own answer', async () => {
    const { thread, lost } = start();
    await thread.load(candidate(REFUNDS));
    const amounts = Array.from({ length: 300 }, (_, index) => (index % 3 === 0 ? 1 : 6000));
    const decisions = await Promise.all(
      amounts.map((amountMinor, index) =>
        thread.decide(canonical({ attempt: index + 1, input: { orderId: 'o', amountMinor } })),
      ),
    );
    decisions.forEach((decision, index) => {
      expect(decision.outcome).toBe(amounts[index] === 1 ? 'allow' : 'requires_confirmation');
    });
    expect(lost).toEqual([]);
  });

  it('while a set is replaced every decision is made by one of the two, and none is denied', async () => {
    const { thread, lost } = start();
    const before = await thread.load(candidate(PERMIT_ALL));
    const state = { loading: true };
    const replaced = thread
      .load(candidate(`${PERMIT_ALL} @id("other") permit(principal, action, resource);`))
      .finally(() => (state.loading = false));
    const revisions = new Set<string>();
    while (state.loading) {
      const decision = await thread.decide(canonical());
      expect(decision.outcome).toBe('allow');
      revisions.add(decision.policyRevision);
    }
    const after = await replaced;
    revisions.add((await thread.decide(canonical())).policyRevision);
    expect([...revisions]).toEqual([before.revision, after.revision]);
    expect(thread.active?.revision).toBe(after.revision);
    expect(lost).toEqual([]);
  });

  it('policies as deep and long as the look at their text lets through harm nothing, even all together', async () => {
    const { thread, lost } = start();
    const seven = 'context.attempt == 7';
    const nested = (open: string, inner: string, close: string, times = 30) =>
      `${open.repeat(times)}${inner}${close.repeat(times)}`;
    const conditions = [
      nested('(', 'true', ')', 31),
      Array(128).fill(seven).join(' || '),
      `${nested('(', seven, ` || ${seven})`)} || ${Array(97).fill(seven).join(' || ')}`,
      `${'if context.attempt == 7 then true else '.repeat(127)}false`,
      `${nested('if (', seven, ') then true else false')} || ${Array(97).fill(seven).join(' || ')}`,
      `${nested('[', '1', ']')} == ${nested('[', '2', ']')}`,
      `0 < ${Array(128).fill('context.attempt').join(' + ')}`,
    ];
    const policies = conditions.map(
      (condition, index) => `@id("p${index}") permit(principal, action, resource) when { ${condition} };`,
    );
    expect(policies.flatMap(scanPolicyText)).toEqual([]);
    expect((await thread.load(candidate(policies.join('\n')))).problems).toEqual([]);
    expect(await thread.probe()).toBe(true);
    expect((await thread.decide(canonical({ attempt: 7 }))).determining).toEqual(['p0', 'p1', 'p2', 'p3', 'p4', 'p6']);
    expect(lost).toEqual([]);
  });

  it('policies that kill the parser are refused, and the set in force never notices', async () => {
    const { thread, lost } = start();
    const good = await thread.load(candidate(PERMIT_ALL));
    for (const condition of [
      `${'('.repeat(300)}true${')'.repeat(300)}`,
      Array(1000).fill('context.attempt == 7').join(' || '),
    ]) {
      const report = await thread.load(
        candidate(`@id("a") permit(principal, action, resource) when { ${condition} };`),
      );
      expect(report.problems.map(({ code }) => code)).toEqual(['engine_crashed']);
      expect(await thread.decide(canonical())).toMatchObject({ outcome: 'allow', policyRevision: good.revision });
      expect(await thread.probe()).toBe(true);
    }
    expect(lost).toEqual([]);
  });

  it('after it was stopped everything is denied', async () => {
    const { thread, lost } = start();
    await thread.load(candidate(PERMIT_ALL));
    const unanswered = thread.decide(canonical());
    await thread.stop();
    expect((await unanswered).outcome).toBe('deny');
    expect((await thread.decide(canonical())).engineErrors).toEqual(['engine_stopped']);
    expect(await thread.probe()).toBe(false);
    expect((await thread.load(candidate(PERMIT_ALL))).accepted).toBe(false);
    expect(lost).toEqual([]);
  });
});

describe('a policy thread that fails', () => {
  it.each([
    ['hangs', 'hang', 'evaluation_timeout', 'evaluation_timeout'],
    ['exits', 'crash', 'engine_crashed', 'engine_crashed'],
    ['throws', 'throw', 'engine_crashed', 'engine_crashed'],
    ['answers too little', 'short', 'impossible_answer', 'impossible_answer'],
    ['answers something else', 'chatter', 'impossible_answer', 'impossible_answer'],
    ['traps', 'trap', 'engine_trapped', 'engine_crashed'],
  ])(
    '%s: the call is denied with its own reason, later calls too until a new thread serves',
    async (_, sub, error, code) => {
      const { thread, lost } = moody({ evaluationTimeoutMs: 400 });
      await thread.load(candidate('go'));
      expect((await thread.decide(canonical())).outcome).toBe('allow');
      const decision = await thread.decide(canonical({ sub }));
      expect(decision).toMatchObject({ outcome: 'deny', engineErrors: [error], policyRevision: 'sha256:moody' });
      expect(JSON.stringify(decision)).not.toContain('secret');
      expect(await thread.decide(canonical())).toMatchObject({
        outcome: 'deny',
        denyCode: 'engine_error',
        engineErrors: ['engine_restarting'],
      });
      expect(await thread.probe()).toBe(false);
      await until(allows(thread));
      expect(await thread.probe()).toBe(true);
      expect(lost).toEqual([code]);
    },
  );

  it('a new thread that does not even start is tried again', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'policies-'));
    folders.push(dir);
    const { thread } = moody();
    expect((await thread.load(candidate(`flaky:${join(dir, 'count')}`))).accepted).toBe(true);
    await thread.decide(canonical({ sub: 'crash' }));
    await until(allows(thread));
    expect(await readFile(join(dir, 'count'), 'utf8')).toBe('...');
  });

  it.each(['maybe', 'null'])('an answer that is no decision (%s) is a denial, and harms nobody else', async (sub) => {
    const { thread, lost } = moody();
    await thread.load(candidate('go'));
    const [odd, plain] = await Promise.all([thread.decide(canonical({ sub })), thread.decide(canonical())]);
    expect(odd).toMatchObject({ outcome: 'deny', denyCode: 'engine_error', engineErrors: ['impossible_answer'] });
    expect(plain?.outcome).toBe('allow');
    expect(lost).toEqual([]);
  });

  it('what waited behind a request that hangs is denied with it, not forgotten', async () => {
    const { thread } = moody({ evaluationTimeoutMs: 300 });
    await thread.load(candidate('go'));
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        thread.decide(canonical({ sub: index === 0 ? 'hang' : 'alice', attempt: index })),
      ),
    );
    expect(new Set(all.map(({ outcome }) => outcome))).toEqual(new Set(['deny']));
    expect(new Set(all.flatMap(({ engineErrors }) => engineErrors))).toEqual(
      new Set(['evaluation_timeout', 'engine_restarting']),
    );
  });

  it('more requests than may wait are denied at once', async () => {
    const { thread } = moody({ queueMax: 10 });
    await thread.load(candidate('go'));
    const all = await Promise.all(Array.from({ length: 200 }, (_, attempt) => thread.decide(canonical({ attempt }))));
    const overloaded = all.filter(({ engineErrors }) => engineErrors.includes('evaluation_overloaded'));
    expect(overloaded.length).toBeGreaterThan(100);
    expect(all.filter(({ outcome }) => outcome === 'allow').length).toBe(200 - overloaded.length);
  });

  it('a busy event loop is not taken for a thread that hangs', async () => {
    const { thread, lost } = moody({ evaluationTimeoutMs: 100 });
    await thread.load(candidate('go'));
    // From here the loop runs its timers before it reads messages.
    await new Promise((resolve) => setImmediate(resolve));
    const answer = thread.decide(canonical());
    const busyUntil = performance.now() + 400;
    while (performance.now() < busyUntil);
    expect((await answer).outcome).toBe('allow');
    await delay(50);
    expect(lost).toEqual([]);
  });

  it.each([
    ['hang', 'took longer'],
    ['exit', 'without a word'],
    ['throw', 'crashed'],
    ['chatter', 'something else'],
  ])('a check that ends in "%s" refuses the candidate and keeps the set in force', async (text, words) => {
    const { thread, lost } = moody({ startTimeoutMs: 3000 });
    await thread.load(candidate('go'));
    const report = await thread.load(candidate(text));
    expect(report).toMatchObject({
      accepted: false,
      problems: [{ code: 'engine_crashed', message: expect.stringContaining(words) }],
    });
    expect((await thread.decide(canonical())).outcome).toBe('allow');
    expect(lost).toEqual([]);
  });

  it.each([
    ['silent', 'not ready'],
    ['dies', 'ended'],
    ['throws', 'crashed'],
    ['refuses', 'no'],
  ])('a thread that does not get ready ("%s") never becomes the serving one', async (text, words) => {
    const { thread } = moody({ startTimeoutMs: 3000 });
    await thread.load(candidate('go'));
    const report = await thread.load(candidate(text));
    expect(report.accepted).toBe(false);
    expect(report.problems[0]?.message).toContain(words);
    expect((await thread.decide(canonical())).outcome).toBe('allow');
  });
});

describe('policies in a folder, evaluated on a thread', () => {
  class Folder extends PolicySource {
    constructor(public dir: string) {
      super();
    }

    override current() {
      return {
        dir: this.dir,
        approverGroups: ['support-lead'],
        defaults: { decideWithinMs: 1000, executionWindowMs: 1000 },
        capabilities: [capability(), READ],
      };
    }
  }

  async function serviceOn(text: string) {
    const dir = await mkdtemp(join(tmpdir(), 'policies-'));
    folders.push(dir);
    await writeFile(join(dir, 'a.cedar'), text);
    const { thread, lost } = start();
    const source = new Folder(dir);
    const policy = new PolicyService(thread, source);
    return { dir, source, policy, lost, report: await loadInto(policy) };
  }

  it('whatever happens to the files while it runs, the last good set stays in force and the report says why', async () => {
    const { dir, source, policy, report } = await serviceOn(
      `@id("no") forbid(principal, action == Action::"order.read", resource); ${PERMIT_ALL}`,
    );
    expect(report.accepted).toBe(true);
    const file = join(dir, 'a.cedar');
    const breakages: [string, () => Promise<unknown>, string][] = [
      ['an open brace', () => writeFile(file, '{'), 'syntax'],
      ['an empty file', () => writeFile(file, ''), 'no_policies'],
      ['bytes that are no text', () => writeFile(file, Uint8Array.of(0xff, 0xfe)), 'unreadable_file'],
      [
        'a rule that means nothing',
        () => writeFile(file, '@id("x") forbid(principal, action, resource) when { context.nonsense };'),
        'validation',
      ],
      [
        'a parser bomb',
        () => writeFile(file, `@id("x") permit(principal, action, resource) when { ${'('.repeat(900)} };`),
        'too_large',
      ],
      ['no file at all', () => rm(file), 'no_policies'],
      ['a folder in its place', () => mkdir(file), 'unreadable_file'],
      ['no folder', async () => (source.dir = join(dir, 'gone')), 'unreadable_folder'],
    ];
    for (const [what, breakIt, code] of breakages) {
      await breakIt();
      const refused = await loadInto(policy);
      expect({ what, accepted: refused.accepted, codes: refused.problems.map((each) => each.code) }).toEqual({
        what,
        accepted: false,
        codes: expect.arrayContaining([code]),
      });
      expect(policy.revision()).toBe(report.revision);
      const denied = await policy.decide(request({ capability: 'order.read', input: { orderId: 'o' } }));
      expect(denied).toMatchObject({ outcome: 'deny', denyCode: 'forbidden', determining: ['no'] });
      expect((await policy.decide(request())).outcome).toBe('allow');
    }
  });

  it('when the very first set is broken everything is denied, and nothing else happens', async () => {
    const { policy, report } = await serviceOn('{');
    expect(report.accepted).toBe(false);
    expect(policy.revision()).toBeNull();
    expect(await policy.decide(request())).toMatchObject({ outcome: 'deny', engineErrors: ['no_active_set'] });
    expect(await policy.probe()).toBe(false);
  });
});
