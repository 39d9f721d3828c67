import { describe, expect, it } from '@jest/globals';
import { PAUSE_REVISION } from '../../capabilities/pause-board.js';
import { DecideApprovalHandler } from '../../control/decide-approval/decide-approval.handler.js';
import { DecideApproval } from '../../control/decide-approval/decide-approval.command.js';
import { LostGround } from '../../control/decide-approval/lost-ground.js';
import { ApprovalExpiry } from '../../policy/approvals/approval-expiry.js';
import { APPROVER, Installation, TENANT } from '../../../test/builders/installation.js';
import { RecordTampered } from '../../policy/case-file.js';
import { Dispatcher } from './dispatcher.js';

const dispatcherOf = ({ desk, gate, judge, rejudgement, leases }: Installation): Dispatcher =>
  new Dispatcher(desk, gate, judge, rejudgement, leases.authority);

const dispatch = (installation: Installation, id: string) => dispatcherOf(installation).dispatch(TENANT, id);

async function approved(installation: Installation): Promise<string> {
  const { desk, commands, gate, judge, rejudgement, log, policy } = installation;
  const lostGround = new LostGround(desk, new ApprovalExpiry(desk, log), rejudgement);
  policy.ask();
  const id = await installation.propose();
  const { row, state } = await installation.approvalOf(id);
  const word = {
    approvalId: row.approval_id,
    decision: 'allow',
    digest: state.consentDigest,
    reason: null,
    expectedVersion: null,
  } as const;
  await new DecideApprovalHandler(desk, commands, gate, judge, lostGround).execute(
    new DecideApproval(APPROVER, word, null),
  );
  policy.allow();
  return id;
}

const setRow = (installation: Installation, id: string, change: object): void => {
  const row = installation.store.rows('tool_calls').find(({ tool_call_id }) => tool_call_id === id);
  if (row === undefined) throw new Error('no call');
  installation.store.seed('tool_calls', { ...row, ...change });
};

describe('taking an authorized call to its dispatch', () => {
  it('judges it again and makes the intent durable, in one unit', async () => {
    const installation = new Installation();
    const id = await installation.authorized();
    expect(await dispatch(installation, id)).toBe('dispatching');
    expect(installation.store.lastTypes).toEqual(['policy.decided', 'tool.call.dispatching']);
    expect((await installation.call(id)).state.status).toBe('dispatching');
    expect(installation.store.units.at(-1)?.lane).toBe('settle');
  });

  it('sends nothing on the word of a policy that is replaced between its answer and the unit [T07]', async () => {
    const installation = new Installation();
    const id = await installation.authorized();
    const { policy, store } = installation;
    const decide = policy.decide.bind(policy);
    policy.decide = async (request) => {
      const decision = await decide(request);
      const [row] = store.rows('policy_active');
      if (row === undefined) throw new Error('no policy is in force');
      store.seed('policy_active', { ...row, revision: 'sha256:next' });
      policy.inForce = 'sha256:next';
      policy.deny('not any more');
      return decision;
    };
    expect(await dispatch(installation, id)).toBe('closed');
    expect((await installation.call(id)).state).toMatchObject({ status: 'denied', deniedBy: 'policy_at_dispatch' });
    expect(store.events.map(({ envelope }) => envelope.eventType)).not.toContain('tool.call.dispatching');
  });

  it('consumes the approval in the same unit, and shows the policy what the people said', async () => {
    const installation = new Installation();
    const id = await approved(installation);
    expect(await dispatch(installation, id)).toBe('dispatching');
    expect(installation.store.lastTypes).toEqual(['policy.decided', 'approval.consumed', 'tool.call.dispatching']);
    expect((await installation.approvalOf(id)).state.status).toBe('consumed');
    expect(installation.policy.asked.at(-1)?.approvals).toEqual({ finance: { count: 1, includesRequester: false } });
  });

  it('starts one attempt, however many dispatchers try', async () => {
    const installation = new Installation();
    const id = await approved(installation);
    const results = await Promise.all([1, 2, 3].map(() => dispatch(installation, id)));
    expect(results.toSorted()).toEqual(['closed', 'closed', 'dispatching']);
    expect(installation.store.rows('attempts')).toHaveLength(1);
  });

  it('leaves alone what is not authorized', async () => {
    const installation = new Installation();
    installation.policy.ask();
    const asked = await installation.propose();
    expect(await dispatch(installation, asked)).toBe('closed');
    expect(await dispatch(installation, 'call_0')).toBe('closed');
    expect(installation.store.units).toHaveLength(1);
  });

  it('sends nothing when a pause is set, and seen here, while the policy is being asked', async () => {
    const installation = new Installation();
    const id = await installation.authorized();
    const decide = installation.policy.decide.bind(installation.policy);
    installation.policy.decide = async (request) => {
      installation.store.seed('meta', { name: PAUSE_REVISION, value: 'paused-meanwhile' });
      installation.store.seed('pauses', {
        tenant: '*',
        target_kind: 'all',
        target: '',
        reason: null,
        set_event_id: 'evt_pause',
        set_at: installation.clock.iso,
      });
      await installation.gate.lookAgain();
      return decide(request);
    };
    expect(await dispatch(installation, id)).toBe('held');
    expect((await installation.call(id)).state.status).toBe('authorized');
  });

  it('sends nothing at or after the end of the authorization', async () => {
    const installation = new Installation();
    const id = await installation.authorized();
    installation.clock.moveTo('2031-01-01T10:15:00.000Z');
    expect(await dispatch(installation, id)).toBe('held');
    expect(installation.store.units).toHaveLength(1);
  });

  it('sends nothing when the time ends by the clock of the writer', async () => {
    const installation = new Installation();
    const id = await approved(installation);
    installation.store.beforeCommit = () => installation.clock.moveTo('2031-01-01T10:15:00.000Z');
    expect(await dispatch(installation, id)).toBe('held');
    expect((await installation.call(id)).state.status).toBe('authorized');
  });

  it.each([
    ['the run has been stopped', (i: Installation) => i.store.seed('runs', { ...run(i), status: 'stopping' })],
    ['the capability is held', (i: Installation) => i.store.seed('capabilities', { ...capability(i), state: 'held' })],
    ['the policy engine fails', (i: Installation) => (i.policy.answer = { outcome: 'deny', denyCode: 'engine_error' })],
    ['another process has taken over', (i: Installation) => i.store.seed('instances', { ...instance(i), epoch: 3 })],
  ])('holds it, unburnt, where %s', async (_, change) => {
    const installation = new Installation();
    const id = await installation.authorized();
    change(installation);
    const units = installation.store.units.length;
    expect(await dispatch(installation, id)).toBe('held');
    expect((await installation.call(id)).state.status).toBe('authorized');
    expect(installation.store.units).toHaveLength(units);
  });

  it('leaves the approval granted where the intent cannot be recorded, and consumes it once when it can', async () => {
    const installation = new Installation();
    const id = await approved(installation);
    const events = installation.store.events.length;
    installation.store.beforeCommit = () => {
      throw new Error('the disk is gone');
    };
    await expect(dispatch(installation, id)).rejects.toThrow('the disk is gone');
    expect((await installation.approvalOf(id)).state.status).toBe('granted');
    expect((await installation.call(id)).state.status).toBe('authorized');
    expect(installation.store.events).toHaveLength(events);
    installation.store.beforeCommit = () => {};
    expect([await dispatch(installation, id), await dispatch(installation, id)]).toEqual(['dispatching', 'closed']);
    expect((await installation.approvalOf(id)).state.status).toBe('consumed');
  });

  it('denies it where the policy of this moment does, and invalidates its approval', async () => {
    const installation = new Installation();
    const id = await approved(installation);
    installation.policy.deny('no longer');
    expect(await dispatch(installation, id)).toBe('closed');
    expect((await installation.call(id)).state).toMatchObject({ status: 'denied', deniedBy: 'policy_at_dispatch' });
    expect((await installation.approvalOf(id)).state).toMatchObject({
      status: 'invalidated',
      reason: 'policy_changed',
    });
  });

  it('asks people where the policy of this moment wants them asked', async () => {
    const installation = new Installation();
    const id = await installation.authorized();
    installation.policy.ask();
    expect(await dispatch(installation, id)).toBe('closed');
    expect((await installation.call(id)).state.status).toBe('proposed');
    expect((await installation.approvalOf(id)).state.status).toBe('pending');
  });

  it('asks anew where what was allowed is no longer enough', async () => {
    const installation = new Installation();
    const id = await approved(installation);
    const before = (await installation.approvalOf(id)).row.approval_id;
    installation.policy.ask({ rules: [{ group: 'board', count: 2, notRequester: true }] });
    expect(await dispatch(installation, id)).toBe('closed');
    const after = await installation.approvalOf(id);
    expect(after.row).toMatchObject({ status: 'pending', supersedes_approval_id: before });
    expect((await installation.store.read.approval(TENANT, before))?.status).toBe('invalidated');
  });

  it.each([authorizedByPolicy, approved])('ends it where its definition is gone', async (begin) => {
    const installation = new Installation();
    const id = await begin(installation);
    installation.gate.bound = () => undefined;
    expect(await dispatch(installation, id)).toBe('closed');
    expect((await installation.call(id)).state).toMatchObject({ status: 'not_executed', reason: 'superseded' });
  });

  it.each([
    ['other arguments', { args_digest: 'sha256:other' }],
    ['another key for the tool', { downstream_key: 'cs_other' }],
    ['a later end of its authorization', { execute_by: '2099-01-01T00:00:00.000Z' }],
    ['another principal', { principal: '["mallory"]' }],
    ['another attempt', { attempt: 2 }],
  ])('never runs on a row that was changed to say %s', async (_, change) => {
    const installation = new Installation();
    const id = await installation.authorized();
    setRow(installation, id, change);
    await expect(dispatch(installation, id)).rejects.toThrow(RecordTampered);
    expect(installation.store.rows('attempts')).toEqual([]);
  });

  it('never runs on an approval whose row was changed to say granted', async () => {
    const installation = new Installation();
    installation.policy.ask();
    const id = await installation.propose();
    const { row } = await installation.approvalOf(id);
    const executeBy = '2031-01-01T10:15:00.000Z';
    installation.store.seed('approvals', {
      ...row,
      status: 'granted',
      execute_by: executeBy,
      decided_by: '["mallory"]',
    });
    setRow(installation, id, { status: 'authorized', authorization_basis: 'approval', execute_by: executeBy });
    installation.policy.allow();
    await expect(dispatch(installation, id)).rejects.toThrow(RecordTampered);
    expect(installation.store.rows('attempts')).toEqual([]);
  });
});

function authorizedByPolicy(installation: Installation): Promise<string> {
  return installation.authorized();
}

function first<T>(rows: readonly T[]): T {
  const [row] = rows;
  if (row === undefined) throw new Error('no row');
  return row;
}

const run = (installation: Installation) => first(installation.store.rows('runs'));
const capability = (installation: Installation) => first(installation.store.rows('capabilities'));
const instance = (installation: Installation) => first(installation.store.rows('instances'));
