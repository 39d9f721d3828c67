import { describe, expect, it } from '@jest/globals';
import { APPROVER, callerWith, Installation, TENANT } from '../../../test/builders/installation.js';
import { ApprovalExpiry } from '../../policy/approvals/approval-expiry.js';
import type { Caller } from '../../identity/caller.js';
import { DecideApproval, type Decision } from './decide-approval.command.js';
import { DecideApprovalHandler } from './decide-approval.handler.js';
import { LostGround } from './lost-ground.js';

class Bench {
  readonly installation = new Installation();
  id = '';
  private readonly handler: DecideApprovalHandler;

  constructor() {
    const { desk, commands, gate, judge, rejudgement, log } = this.installation;
    const lostGround = new LostGround(desk, new ApprovalExpiry(desk, log), rejudgement);
    this.handler = new DecideApprovalHandler(desk, commands, gate, judge, lostGround);
  }

  async asked(count = 1): Promise<this> {
    this.installation.policy.ask({ rules: [{ group: 'finance', count, notRequester: true }] });
    this.id = await this.installation.propose();
    return this;
  }

  approval() {
    return this.installation.approvalOf(this.id);
  }

  async decide(more: Partial<Decision> = {}, caller: Caller = APPROVER, commandId: string | null = null) {
    const { row, state } = await this.approval();
    const word: Decision = {
      approvalId: row.approval_id,
      decision: 'allow',
      digest: state.consentDigest,
      reason: null,
      expectedVersion: null,
      ...more,
    };
    return this.handler.execute(new DecideApproval(caller, word, commandId));
  }

  async refused(more: Partial<Decision> = {}, caller: Caller = APPROVER): Promise<unknown> {
    return this.decide(more, caller).then(
      () => 'recorded',
      (error: { code?: string }) => error.code,
    );
  }

  get types(): readonly string[] {
    return this.installation.store.lastTypes;
  }
}

const FRED = callerWith({ ...APPROVER, actor: { sub: 'fred' } });

describe('a person’s word', () => {
  it('that is enough grants and authorizes in one unit', async () => {
    const bench = await new Bench().asked();
    await bench.decide({ reason: 'fine' });
    expect(bench.types).toEqual([
      'control.accepted',
      'approval.vote_recorded',
      'approval.granted',
      'capability.authorized',
    ]);
    expect((await bench.installation.call(bench.id)).state).toMatchObject({
      status: 'authorized',
      basis: 'approval',
      executeBy: '2031-01-01T10:15:00.000Z',
    });
  });

  it('that is not yet enough is recorded and authorizes nothing', async () => {
    const bench = await new Bench().asked(2);
    await bench.decide();
    expect(bench.types).toEqual(['control.accepted', 'approval.vote_recorded']);
    expect((await bench.installation.call(bench.id)).state.status).toBe('proposed');
    await bench.decide({}, FRED);
    expect((await bench.installation.call(bench.id)).state.status).toBe('authorized');
  });

  it('that denies ends the call with its reason', async () => {
    const bench = await new Bench().asked(2);
    await bench.decide({ decision: 'deny', reason: 'not this customer' });
    expect(bench.types).toEqual(['control.accepted', 'approval.vote_recorded', 'approval.denied', 'tool.call.denied']);
    expect((await bench.installation.call(bench.id)).state).toMatchObject({ status: 'denied', deniedBy: 'approval' });
    expect(bench.installation.store.events.at(-1)?.payload['reasons']).toEqual([
      'denied by an approver: not this customer',
    ]);
  });

  it('that was said before names the command that said it, and nothing is recorded', async () => {
    const bench = await new Bench().asked(2);
    const first = await bench.decide({}, APPROVER, 'cmd-1');
    const units = bench.installation.store.units.length;
    expect(await bench.decide({}, APPROVER, 'cmd-2')).toEqual(first);
    expect(bench.installation.store.units).toHaveLength(units);
  });

  it('counts once where two of them meet', async () => {
    const bench = await new Bench().asked(2);
    await Promise.all([bench.decide(), bench.decide({}, FRED)]);
    expect((await bench.approval()).state).toMatchObject({ status: 'granted', decidedBy: ['fay', 'fred'] });
  });

  it.each([
    ['an agent', callerWith({ roles: ['approver', 'harness'], groups: ['finance'] }), 'approver_not_allowed'],
    ['somebody without the role', callerWith({ ...APPROVER, roles: ['operator'] }), 'approver_not_allowed'],
    ['somebody outside the group', callerWith({ ...APPROVER, groups: ['sales'] }), 'approver_not_allowed'],
    ['the requester', callerWith({ ...APPROVER, actor: { sub: 'alice' } }), 'approver_not_allowed'],
  ])('of %s is refused and the refusal is recorded', async (_, caller, code) => {
    const bench = await new Bench().asked();
    expect(await bench.refused({}, caller)).toBe(code);
    expect(bench.types).toEqual(['control.rejected']);
    expect((await bench.approval()).state.status).toBe('pending');
  });

  it.each([
    ['about something else than was shown', { digest: 'sha256:other' }, 'action_digest_mismatch'],
    ['about an approval that does not exist', { approvalId: 'apr_0' }, 'approval_not_found'],
    ['about a version that is no longer', { expectedVersion: 9 }, 'version_stale'],
  ])('%s is refused', async (_, more, code) => {
    const bench = await new Bench().asked();
    expect(await bench.refused(more)).toBe(code);
    expect((await bench.approval()).state.status).toBe('pending');
  });

  it('of another tenant’s approver meets no approval', async () => {
    const bench = await new Bench().asked();
    expect(await bench.refused({}, callerWith({ ...APPROVER, tenant: 'globex' }))).toBe('approval_not_found');
  });

  it('after the decision is refused: the first stands', async () => {
    const bench = await new Bench().asked();
    await bench.decide();
    expect(await bench.refused({ decision: 'deny' }, FRED)).toBe('approval_already_decided');
    expect((await bench.approval()).state.status).toBe('granted');
  });
});

describe('a word that comes too late for its question', () => {
  it('lets the question expire', async () => {
    const bench = await new Bench().asked();
    bench.installation.clock.moveTo('2031-01-01T11:00:00.000Z');
    expect(await bench.refused()).toBe('approval_expired');
    expect((await bench.approval()).state.status).toBe('expired');
    expect((await bench.installation.call(bench.id)).state.status).toBe('not_executed');
  });

  it('is asked anew where the policy has changed', async () => {
    const bench = await new Bench().asked();
    const before = (await bench.approval()).row.approval_id;
    const { store, policy } = bench.installation;
    const [row] = store.rows('policy_active');
    if (row !== undefined) store.seed('policy_active', { ...row, revision: 'sha256:policy-2' });
    policy.inForce = 'sha256:policy-2';
    expect(await bench.refused()).toBe('policy_version_changed');
    expect((await store.read.approval(TENANT, before))?.status).toBe('invalidated');
    expect((await bench.approval()).row).toMatchObject({ status: 'pending', supersedes_approval_id: before });
  });

  it('ends the call where its definition is gone', async () => {
    const bench = await new Bench().asked();
    bench.installation.gate.bound = () => undefined;
    expect(await bench.refused()).toBe('capability_version_changed');
    expect((await bench.installation.call(bench.id)).state).toMatchObject({
      status: 'not_executed',
      reason: 'superseded',
    });
  });

  it('may still deny where nothing it rested on is in force', async () => {
    const bench = await new Bench().asked();
    bench.installation.gate.bound = () => undefined;
    await bench.decide({ decision: 'deny' });
    expect((await bench.installation.call(bench.id)).state.status).toBe('denied');
  });
});
