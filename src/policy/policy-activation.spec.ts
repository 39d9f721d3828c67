import { beforeEach, describe, expect, it } from '@jest/globals';
import { Installation, REVISION } from '../../test/builders/installation.js';
import { standbyOf } from '../../test/support/loaded-policies.js';
import { GuardFailed } from '../storage/unit.js';
import { problem, type PolicyProblem } from './engine/policy-problem.js';
import { refusedReport, type LoadReport, type PolicyCandidate } from './engine/policy-set.js';
import { PolicyActivation } from './policy-activation.js';
import { refusal } from './policy-problems.js';
import { StoredSets } from './life/stored-sets.js';
import { POLICY_SCOPE } from './policy-guard.js';
import type { PolicyService, StandbySet } from './policy.service.js';

const accepted = (revision: string): LoadReport => ({
  accepted: true,
  revision,
  schemaDigest: `${revision}/schema`,
  engineVersion: 'cedar/4',
  policyIds: ['permit-refund'],
  problems: [],
  warnings: [],
  unattended: [],
});

const PROBLEMS: readonly PolicyProblem[] = [
  problem('syntax', 'a bracket is missing', { file: 'refunds.cedar' }),
  problem('annotation', 'no @id', { file: 'refunds.cedar', policyId: 'p-2' }),
  problem('no_policies', 'there is none'),
];

let installation: Installation;
let report: LoadReport;
let activation: PolicyActivation;
let candidate: PolicyCandidate | null;
let standby: ReturnType<typeof standbyOf>;

beforeEach(() => {
  installation = new Installation();
  report = accepted('sha256:policy-2');
  const policy = {
    prepare: async (): Promise<StandbySet> => {
      standby = standbyOf(report, candidate);
      return standby;
    },
  };
  candidate = null;
  const sets = new StoredSets(installation.desk);
  activation = new PolicyActivation(installation.desk, policy as unknown as PolicyService, sets);
});

const activeRow = () => installation.store.rows('policy_active');
const lastPayload = () => installation.store.events.at(-1)?.payload;

describe('putting a policy set in force', () => {
  it('is a fact in one unit with the row that every decision guards', async () => {
    expect(await activation.activate()).toBe(report);
    expect(installation.store.units).toHaveLength(1);
    expect(installation.store.lastTypes).toEqual(['policy.activated']);
    const event = installation.store.events.at(-1);
    expect(event?.payload).toEqual({
      policyRevision: 'sha256:policy-2',
      schemaDigest: 'sha256:policy-2/schema',
      previousRevision: REVISION,
      policyIds: ['permit-refund'],
    });
    expect(event?.envelope).toMatchObject({ tenant: '*', streamKind: 'policy', streamId: POLICY_SCOPE, version: 1 });
    expect(activeRow()).toEqual([
      {
        scope: POLICY_SCOPE,
        revision: 'sha256:policy-2',
        schema_digest: 'sha256:policy-2/schema',
        stream_version: 1,
        activated_event_id: event?.envelope.eventId,
        activated_at: installation.clock.iso,
      },
    ]);
  });

  it('makes what was decided under the set before be decided again', async () => {
    const id = await installation.authorized();
    const stale = installation.judge.guard(await installation.policy.decide({} as never));
    await activation.activate();
    const { row } = await installation.call(id);
    const draft = installation.desk.beginAbout(row, { lane: 'settle', causeKind: 'event' }).guard(stale);
    await expect(installation.desk.commit(draft)).rejects.toEqual(new GuardFailed('policy'));
  });

  it('is no new fact while the same set is in force', async () => {
    report = accepted(REVISION);
    expect(await activation.activate()).toBe(report);
    expect(installation.store.units).toEqual([]);
  });

  it('can go back to a set that was in force before', async () => {
    await activation.activate();
    report = accepted(REVISION);
    await activation.activate();
    expect(activeRow()).toMatchObject([{ revision: REVISION, stream_version: 2 }]);
    expect(lastPayload()).toMatchObject({ previousRevision: 'sha256:policy-2' });
  });

  it('for the first time has no set before it', async () => {
    const [row] = activeRow();
    if (row === undefined) throw new Error('no row');
    const draft = installation.desk.beginInstallation('test');
    draft.write({ op: 'delete', table: 'policy_active', where: { scope: POLICY_SCOPE } });
    await installation.desk.commit(draft);
    await activation.activate();
    expect(lastPayload()).toMatchObject({ policyRevision: 'sha256:policy-2', previousRevision: null });
    expect(activeRow()).toMatchObject([{ revision: 'sha256:policy-2' }]);
  });
});

describe('a policy set with a problem', () => {
  beforeEach(() => void (report = refusedReport(PROBLEMS)));

  it('leaves the set in force where it is, and that it was refused is a fact', async () => {
    const before = activeRow();
    await expect(activation.activate()).rejects.toMatchObject({ code: 'policy_set_refused' });
    expect(activeRow()).toEqual(before);
    expect(installation.store.lastTypes).toEqual(['policy.activation_refused']);
    expect(lastPayload()).toEqual({ problems: PROBLEMS });
  });

  it('is refused every time it is tried', async () => {
    await expect(activation.activate()).rejects.toMatchObject({ code: 'policy_set_refused' });
    await expect(activation.activate()).rejects.toMatchObject({ code: 'policy_set_refused' });
    expect(installation.store.events.map(({ envelope }) => envelope.version)).toEqual([1, 2]);
  });

  it('is refused with every problem and where it is', () => {
    const error = refusal(report);
    expect(error.details).toEqual({
      problems: [
        'refunds.cedar syntax: a bracket is missing',
        'refunds.cedar p-2 annotation: no @id',
        'no_policies: there is none',
      ],
    });
    for (const line of error.details.problems ?? []) expect(error.message).toContain(line);
  });
});

describe('the engine changes over', () => {
  it('when the unit is durable, and not before', async () => {
    const seen: string[][] = [];
    installation.store.beforeCommit = () => void seen.push([...standby.moves]);
    await activation.activate();
    expect(seen).toEqual([[]]);
    expect(standby.moves).toEqual(['entered', 'left']);
  });

  it('to nothing when the unit is not written', async () => {
    installation.store.beforeCommit = () => {
      throw new GuardFailed('anything');
    };
    await expect(activation.activate()).rejects.toEqual(new GuardFailed('anything'));
    expect(standby.moves).toEqual(['left']);
  });

  it('once for a change that has to prepare again', async () => {
    const all: StandbySet[] = [];
    await activation.change(async (prepare) => {
      all.push(await prepare(), await prepare());
    });
    expect(all.map((each) => (each as typeof standby).moves)).toEqual([['left'], ['entered', 'left']]);
  });

  it('one change at a time', async () => {
    const order: string[] = [];
    const slow = activation.change(async () => {
      order.push('begin');
      await new Promise((resolve) => setImmediate(resolve));
      order.push('end');
    });
    await Promise.all([slow, activation.change(async () => void order.push('next'))]);
    expect(order).toEqual(['begin', 'end', 'next']);
  });

  it('also after a change that failed', async () => {
    await expect(activation.change(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await activation.activate()).toBe(report);
  });
});

describe('a set that comes into force', () => {
  beforeEach(() => {
    candidate = {
      files: [{ name: 'a.cedar', text: 'permit' }],
      capabilities: [],
      approverGroups: ['finance'],
      defaults: { decideWithinMs: 1, executionWindowMs: 2 },
    };
  });

  it('is kept in the same unit, so that what it decides can be replayed', async () => {
    await activation.activate();
    expect(installation.store.units).toHaveLength(1);
    expect(await new StoredSets(installation.desk).find('sha256:policy-2')).toEqual({
      revision: 'sha256:policy-2',
      engineVersion: 'cedar/4',
      schemaDigest: 'sha256:policy-2/schema',
      policyIds: ['permit-refund'],
      candidate,
      firstSeen: installation.clock.iso,
    });
  });

  it('is kept once, however often it comes back', async () => {
    await activation.activate();
    report = accepted('sha256:policy-3');
    await activation.activate();
    report = accepted('sha256:policy-2');
    await activation.activate();
    const kept = installation.store.rows('policy_sets').map(({ revision }) => revision);
    expect(kept).toEqual(['sha256:policy-2', 'sha256:policy-3']);
  });

  it('is kept also where it was in force before sets were kept, without a new fact', async () => {
    report = accepted(REVISION);
    await activation.activate();
    expect(installation.store.lastTypes).toEqual([]);
    expect(installation.store.rows('policy_sets')).toMatchObject([{ revision: REVISION }]);
  });

  it('by a proposal says who proposed and who allowed it', async () => {
    await activation.change(async (prepare) => {
      const draft = installation.desk.beginInstallation('policies');
      const people = { activationId: 'pac_1', author: { sub: 'ann' }, approver: { sub: 'bob' } };
      await activation.recordIn(draft, await prepare(), people);
      await installation.desk.commit(draft);
    });
    expect(lastPayload()).toMatchObject({ activationId: 'pac_1', author: { sub: 'ann' }, approver: { sub: 'bob' } });
  });

  it('that was refused is not kept', async () => {
    report = refusedReport(PROBLEMS);
    candidate = null;
    await expect(activation.activate()).rejects.toMatchObject({ code: 'policy_set_refused' });
    expect(installation.store.rows('policy_sets')).toEqual([]);
  });
});
