import { describe, expect, it } from '@jest/globals';
import { AGENT, Installation, TENANT } from '../../../test/builders/installation.js';
import { loadApproval, loadCall } from './load.js';

describe('loading', () => {
  it('gives a call with its state, its facts and its row', async () => {
    const installation = new Installation();
    const id = await installation.propose();
    const call = await loadCall(installation.store.read, TENANT, id);
    expect(call).toMatchObject({
      state: { status: 'dispatching', owner: 'ins_1', ownerEpoch: 2, nonce: expect.stringMatching(/^att_/) },
      facts: { tool_call_id: id, version: 4 },
      row: { status: 'dispatching' },
    });
  });

  it('gives the attempt that is under way, not an earlier one', async () => {
    const installation = new Installation();
    const id = await installation.propose();
    const first = (await installation.call(id)).state;
    const { row } = await installation.call(id);
    installation.store.seed('tool_calls', { ...row, attempt: 2 });
    await expect(installation.call(id)).rejects.toThrow('needs the row of its current attempt');
    expect('nonce' in first).toBe(true);
  });

  it('gives an approval with the votes that count', async () => {
    const installation = new Installation();
    installation.policy.ask();
    const id = await installation.propose();
    const approval = await installation.approvalOf(id);
    expect(approval).toMatchObject({ state: { status: 'pending', votes: [] }, votes: [] });
  });

  it('gives nothing for an id of another tenant or nobody', async () => {
    const installation = new Installation();
    installation.policy.ask();
    const id = await installation.propose({}, AGENT);
    const { row } = await installation.approvalOf(id);
    const { read } = installation.store;
    expect(await loadCall(read, 'globex', id)).toBeNull();
    expect(await loadCall(read, TENANT, 'call_0')).toBeNull();
    expect(await loadApproval(read, 'globex', row.approval_id)).toBeNull();
  });
});
