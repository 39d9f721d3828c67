import { describe, expect, it } from '@jest/globals';
import { SilentLogger } from '../../system/logger.js';
import { Installation, TENANT } from '../../../test/builders/installation.js';
import { ApprovalExpiry } from './approval-expiry.js';
import { StaleQuestions } from './stale-questions.js';

async function asked(n = 1, installation = new Installation()): Promise<{ installation: Installation; id: string }> {
  installation.policy.ask();
  return { installation, id: await installation.propose({ arguments: { orderId: `o-${n}`, amountMinor: 1 } }) };
}

function changePolicy(installation: Installation): void {
  const [row] = installation.store.rows('policy_active');
  if (row === undefined) throw new Error('no policy');
  installation.store.seed('policy_active', { ...row, revision: 'sha256:policy-2' });
  installation.policy.inForce = 'sha256:policy-2';
}

describe('a question whose ground has shifted', () => {
  it('is asked anew under the policy of now, in one unit with its end', async () => {
    const { installation, id } = await asked();
    const before = await installation.approvalOf(id);
    changePolicy(installation);
    await installation.rejudgement.rejudge(before, await installation.call(id), 'policy_changed');
    expect(installation.store.lastTypes).toEqual(['approval.invalidated', 'policy.decided', 'approval.required']);
    const after = await installation.approvalOf(id);
    expect(after.row).toMatchObject({
      policy_revision: 'sha256:policy-2',
      supersedes_approval_id: before.row.approval_id,
    });
    expect(installation.store.events.at(-3)?.payload).toMatchObject({
      reason: 'policy_changed',
      oldVersion: 'sha256:policy-1',
      newVersion: 'sha256:policy-2',
    });
  });

  it.each([
    ['allows', (i: Installation) => i.policy.allow(), 'authorized'],
    ['denies', (i: Installation) => i.policy.deny('no'), 'denied'],
  ] as const)('is settled where the policy of now %s', async (_, change, status) => {
    const { installation, id } = await asked();
    const before = await installation.approvalOf(id);
    changePolicy(installation);
    change(installation);
    await installation.rejudgement.rejudge(before, await installation.call(id), 'policy_changed');
    expect((await installation.call(id)).state.status).toBe(status);
    expect((await installation.approvalOf(id)).state.status).toBe('invalidated');
  });

  it.each(['capability_changed', 'digest_mismatch'] as const)('ends its call for %s', async (reason) => {
    const { installation, id } = await asked();
    await installation.rejudgement.rejudge(await installation.approvalOf(id), await installation.call(id), reason);
    expect((await installation.call(id)).state).toMatchObject({ status: 'not_executed', reason: 'superseded' });
    expect((await installation.approvalOf(id)).state).toMatchObject({ status: 'invalidated', reason });
    expect(installation.store.rows('open_intents')).toEqual([]);
  });

  it('stays where the engine cannot answer now', async () => {
    const { installation, id } = await asked();
    changePolicy(installation);
    installation.policy.answer = { outcome: 'deny', denyCode: 'engine_error' };
    const rejudged = installation.rejudgement.rejudge(
      await installation.approvalOf(id),
      await installation.call(id),
      'policy_changed',
    );
    await expect(rejudged).rejects.toMatchObject({ code: 'engine_error' });
    expect((await installation.approvalOf(id)).state.status).toBe('pending');
  });
});

describe('questions of a policy that is no longer in force', () => {
  const sweep = ({ desk, gate, judge, rejudgement }: Installation): Promise<number> =>
    new StaleQuestions(desk, gate, judge, rejudgement, new SilentLogger()).tick();

  it('are asked anew by themselves, and those of the one in force are left alone', async () => {
    const { installation, id } = await asked(1);
    changePolicy(installation);
    const { id: current } = await asked(2, installation);
    const kept = (await installation.approvalOf(current)).row;
    await sweep(installation);
    expect((await installation.approvalOf(id)).row.policy_revision).toBe('sha256:policy-2');
    expect((await installation.approvalOf(current)).row).toEqual(kept);
  });

  it('are left alone while no policy is in force', async () => {
    const { installation } = await asked();
    installation.policy.inForce = null;
    const units = installation.store.units.length;
    await sweep(installation);
    expect(installation.store.units).toHaveLength(units);
  });

  it('do not hold up one another: one whose record was changed is one', async () => {
    const { installation, id: broken } = await asked(1);
    const { id: next } = await asked(2, installation);
    const { row } = await installation.call(broken);
    installation.store.seed('tool_calls', { ...row, args_digest: 'sha256:other' });
    changePolicy(installation);
    await sweep(installation).catch(() => undefined);
    expect((await installation.approvalOf(next)).row.policy_revision).toBe('sha256:policy-2');
  });
});

describe('a question that nobody answers', () => {
  const expiry = ({ desk, log }: Installation): ApprovalExpiry => new ApprovalExpiry(desk, log);
  const DECIDE_BY = '2031-01-01T11:00:00.000Z';

  it('expires at its time as an event, and its call was not executed: nobody denied it', async () => {
    const { installation, id } = await asked();
    installation.clock.moveTo('2031-01-01T10:59:59.999Z');
    await expiry(installation).tick();
    expect((await installation.approvalOf(id)).state.status).toBe('pending');
    installation.clock.moveTo(DECIDE_BY);
    await expiry(installation).tick();
    expect(installation.store.lastTypes).toEqual(['approval.expired', 'tool.call.not_executed']);
    expect((await installation.approvalOf(id)).state).toMatchObject({ status: 'expired', clock: 'decide' });
    expect((await installation.call(id)).state).toMatchObject({ status: 'not_executed', reason: 'approval_expired' });
    expect(installation.store.units.at(-1)?.appends[0]?.events[0]).toMatchObject({
      causeKind: 'timer',
      actor: { sub: 'countersign' },
    });
  });

  it('holds up no other that cannot expire now', async () => {
    const { installation } = await asked(1);
    const { id: next } = await asked(2, installation);
    installation.clock.moveTo(DECIDE_BY);
    let first = true;
    installation.store.beforeCommit = () => {
      if (!first) return;
      first = false;
      throw new TypeError('hunter2');
    };
    await expiry(installation).tick();
    expect((await installation.approvalOf(next)).state.status).toBe('expired');
    expect(installation.log.lines).toMatchObject([{ level: 'error', fields: { error: 'TypeError' } }]);
  });

  it('is nothing to expire where it does not exist', async () => {
    const { installation } = await asked();
    await expiry(installation).expire(TENANT, 'apr_0');
    await expiry(installation).expire(
      'globex',
      (await installation.store.read.approvals({ tenant: TENANT, limit: 1 })).rows[0]?.approval_id ?? '',
    );
    expect(installation.store.units).toHaveLength(1);
  });
});
