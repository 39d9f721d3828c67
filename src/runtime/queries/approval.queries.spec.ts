import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { APPROVER, callerWith, Installation, refundCapability, TENANT } from '../../../test/builders/installation.js';
import { DecideApproval } from '../../control/decide-approval/decide-approval.command.js';
import { DecideApprovalHandler } from '../../control/decide-approval/decide-approval.handler.js';
import { LostGround } from '../../control/decide-approval/lost-ground.js';
import type { ApprovalStatus } from '../../domain/approval/approval.state.js';
import type { Caller } from '../../identity/caller.js';
import { ApprovalExpiry } from '../../policy/approvals/approval-expiry.js';
import { ApprovalViews } from '../views/approval.view.js';
import { GetApproval, GetApprovalHandler, ListApprovals, ListApprovalsHandler } from './approval.queries.js';

const GLOBEX = callerWith({ ...APPROVER, tenant: 'globex' });
const FRED = callerWith({ ...APPROVER, actor: { sub: 'fred' } });

let installation: Installation;

beforeEach(() => {
  installation = new Installation({ capabilities: [refundCapability({ redact: ['/note'] })] });
  installation.policy.ask({ rules: [{ group: 'finance', count: 2, notRequester: true }] });
});

/** Asks people about a refund of this order and answers the approval's id. */
async function ask(orderId = 'o-1'): Promise<string> {
  const id = await installation.propose({
    arguments: { orderId, amountMinor: 5, note: 'hunter2' },
    reason: 'damaged\u202e',
  });
  return (await installation.approvalOf(id)).row.approval_id;
}

async function decide(approvalId: string, decision: 'allow' | 'deny', caller: Caller, reason: string | null = null) {
  const { desk, commands, gate, judge, rejudgement, log, store } = installation;
  const digest = store.rows('approvals').find((row) => row.approval_id === approvalId)?.consent_digest ?? '';
  const lostGround = new LostGround(desk, new ApprovalExpiry(desk, log), rejudgement);
  const word = { approvalId, decision, digest, reason, expectedVersion: null };
  await new DecideApprovalHandler(desk, commands, gate, judge, lostGround).execute(
    new DecideApproval(caller, word, null),
  );
}

const get = (approvalId: string, caller: Caller = APPROVER) =>
  new GetApprovalHandler(installation.store, new ApprovalViews(installation.store)).execute(
    new GetApproval(caller, approvalId),
  );

const list = (status: ApprovalStatus | null, limit = 50, cursor: string | null = null, caller: Caller = APPROVER) =>
  new ListApprovalsHandler(installation.store, new ApprovalViews(installation.store)).execute(
    new ListApprovals(caller, status, limit, cursor),
  );

describe('one approval', () => {
  it('is shown with what was asked, what is needed and what it was asked with', async () => {
    const approvalId = await ask();
    const [call] = installation.store.rows('tool_calls');
    const [approval] = installation.store.rows('approvals');
    expect(await get(approvalId)).toMatchObject({
      approvalId,
      status: 'pending',
      toolCallId: call?.tool_call_id,
      runId: call?.run_id,
      attempt: 1,
      capability: 'refund.create',
      title: 'Refund an order',
      digest: approval?.consent_digest,
      argsDigest: call?.args_digest,
      requester: { sub: 'alice', act: 'agent-7' },
      reasons: ['amount'],
      determining: ['a-policy'],
      policyRevision: installation.revision,
      needed: [{ group: 'finance', count: 2, have: 0, notRequester: true }],
      votes: [],
      decidedBy: null,
      statusReason: null,
      executeBy: null,
      argumentsEmpty: false,
      links: { toolCall: `/v1/tool-calls/${call?.tool_call_id}` },
      version: 1,
    });
  });

  it('never shows what is redacted, nor what cannot be seen', async () => {
    const view = await get(await ask());
    expect(view.arguments).toMatchObject({ orderId: 'o-1', note: expect.stringMatching(/^\[redacted:/) });
    const text = JSON.stringify(view);
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('\u202e');
    expect(view.agentReason).toContain('damaged');
  });

  it('shows each word that was given, with its reason made visible', async () => {
    const approvalId = await ask();
    await decide(approvalId, 'allow', APPROVER, 'checked\u202e');
    const view = await get(approvalId);
    expect(view).toMatchObject({
      status: 'pending',
      needed: [{ have: 1 }],
      votes: [{ sub: 'fay', decision: 'allow', at: installation.clock.iso }],
      version: 2,
    });
    expect(view.votes[0]?.reason).not.toContain('\u202e');
    expect(view.votes[0]?.reason).toContain('checked');
    await decide(approvalId, 'allow', FRED);
    expect(await get(approvalId)).toMatchObject({
      status: 'granted',
      decidedBy: ['fay', 'fred'],
      executeBy: '2031-01-01T10:15:00.000Z',
      votes: [{ sub: 'fay' }, { sub: 'fred', reason: null }],
    });
  });

  it('does not exist for another tenant, nor for anybody when there is none', async () => {
    const approvalId = await ask();
    await expect(get(approvalId, GLOBEX)).rejects.toMatchObject({ code: 'approval_not_found' });
    await expect(get('apr_0')).rejects.toMatchObject({ code: 'approval_not_found' });
  });

  it('is not changed by being read', async () => {
    const approvalId = await ask();
    const events = installation.store.events.length;
    expect(await get(approvalId)).toEqual(await get(approvalId));
    expect(installation.store.events).toHaveLength(events);
  });
});

describe('the list of approvals', () => {
  it('shows each as it is shown alone, and only those of the status', async () => {
    const [one, two] = [await ask('o-1'), await ask('o-2')];
    await decide(two, 'deny', APPROVER);
    expect((await list(null)).items).toEqual([await get(one), await get(two)]);
    expect((await list('pending')).items).toEqual([await get(one)]);
    expect((await list('denied')).items).toEqual([await get(two)]);
    expect((await list('granted')).items).toEqual([]);
  });

  it('asks for the page that is wanted and says where the next one begins', async () => {
    const [row] = [await ask()].map(() => installation.store.rows('approvals')[0]);
    if (row === undefined) throw new Error('no approval');
    const asked = jest
      .spyOn(installation.store.read, 'approvals')
      .mockResolvedValue({ rows: [row], nextCursor: 'c-2' });
    expect(await list('pending', 1, 'c-1')).toMatchObject({
      items: [{ approvalId: row.approval_id }],
      nextCursor: 'c-2',
    });
    await list(null);
    expect(asked.mock.calls).toEqual([
      [{ tenant: TENANT, limit: 1, cursor: 'c-1', statuses: ['pending'] }],
      [{ tenant: TENANT, limit: 50, cursor: null }],
    ]);
  });

  it('of another tenant holds nothing of this one', async () => {
    await ask();
    expect((await list(null, 50, null, GLOBEX)).items).toEqual([]);
  });
});
