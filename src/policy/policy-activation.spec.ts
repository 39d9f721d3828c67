import { beforeEach, describe, expect, it } from '@jest/globals';
import { Installation, REVISION } from '../../test/builders/installation.js';
import { GuardFailed } from '../storage/unit.js';
import { problem, type PolicyProblem } from './engine/policy-problem.js';
import { refusedReport, type LoadReport } from './engine/policy-set.js';
import { PolicyActivation, refusal } from './policy-activation.js';
import { POLICY_SCOPE } from './policy-guard.js';
import type { PolicyService } from './policy.service.js';

const accepted = (revision: string): LoadReport => ({
  accepted: true,
  revision,
  schemaDigest: `${revision}/schema`,
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

beforeEach(() => {
  installation = new Installation();
  report = accepted('sha256:policy-2');
  const policy = { reload: async (): Promise<LoadReport> => report };
  activation = new PolicyActivation(installation.desk, policy as unknown as PolicyService);
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

describe('a policy load as a part of somebody else’s unit', () => {
  it('is caused by what stands in that unit before it, and is not written without it', async () => {
    const draft = installation.desk.beginInstallation('policies');
    expect(await activation.recordIn(draft, '2031-01-01T09:59:59.000Z')).toBe(report);
    expect(installation.store.units).toEqual([]);
    expect(activeRow()[0]?.revision).toBe(REVISION);
    await installation.desk.commit(draft);
    expect(activeRow()[0]).toMatchObject({ revision: 'sha256:policy-2', activated_at: '2031-01-01T09:59:59.000Z' });
  });

  it('that is refused does not throw: the owner of the unit says what follows', async () => {
    report = refusedReport(PROBLEMS);
    const draft = installation.desk.beginInstallation('policies');
    expect((await activation.recordIn(draft, installation.clock.iso)).accepted).toBe(false);
    expect(draft.isEmpty).toBe(false);
  });

  it('leaves the unit empty where there is nothing new', async () => {
    report = accepted(REVISION);
    const draft = installation.desk.beginInstallation('policies');
    await activation.recordIn(draft, installation.clock.iso);
    expect(draft.isEmpty).toBe(true);
  });
});
