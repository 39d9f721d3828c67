import { describe, expect, it } from '@jest/globals';
import { AGENT, callerWith, Installation } from '../../../test/builders/installation.js';
import type { Caller } from '../../identity/caller.js';
import { CancelToolCall } from './cancel-tool-call.command.js';
import { CancelToolCallHandler } from './cancel-tool-call.handler.js';

const cancel = ({ desk, commands, gate }: Installation, id: string, caller: Caller = AGENT): Promise<unknown> =>
  new CancelToolCallHandler(desk, commands, gate).execute(new CancelToolCall(caller, id, null, null)).then(
    () => 'accepted',
    (error: { code?: string }) => error.code ?? error,
  );

describe('cancelling a call', () => {
  it('that is authorized ends it', async () => {
    const installation = new Installation();
    const id = await installation.authorized();
    expect(await cancel(installation, id)).toBe('accepted');
    expect((await installation.call(id)).state).toMatchObject({ status: 'not_executed', reason: 'cancelled' });
    expect(installation.store.rows('open_intents')).toEqual([]);
    expect(installation.store.rows('runs')[0]?.status).toBe('running');
  });

  it('that waits for people closes their question in the same unit', async () => {
    const installation = new Installation();
    installation.policy.ask();
    const id = await installation.propose();
    await cancel(installation, id);
    expect(installation.store.lastTypes).toEqual(['control.accepted', 'approval.closed', 'tool.call.not_executed']);
    expect((await installation.approvalOf(id)).state).toMatchObject({ status: 'closed', reason: 'cancelled' });
  });

  it('that may be on the wire, or unknown, is refused: nothing is claimed about it', async () => {
    const installation = new Installation();
    const id = await installation.propose();
    expect(await cancel(installation, id)).toBe('cancel_not_supported');
    await installation.record(id, { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null });
    expect(await cancel(installation, id)).toBe('cancel_not_supported');
    expect((await installation.call(id)).state.status).toBe('result_unknown');
  });

  it('that has ended is refused', async () => {
    const installation = new Installation();
    installation.policy.deny('no');
    expect(await cancel(installation, await installation.propose())).toBe('tool_call_already_ended');
  });

  it('of somebody else meets no call', async () => {
    const installation = new Installation();
    const id = await installation.authorized();
    expect(await cancel(installation, id, callerWith({ actor: { sub: 'bob' } }))).toBe('tool_call_not_found');
    expect((await installation.call(id)).state.status).toBe('authorized');
  });

  it('loses to a dispatch that was first', async () => {
    const installation = new Installation();
    const id = await installation.authorized();
    installation.store.beforeCommit = () => {
      installation.store.beforeCommit = () => {};
      const row = installation.store.rows('tool_calls').find(({ tool_call_id }) => tool_call_id === id);
      if (row === undefined) throw new Error('no call');
      installation.store.seed('tool_calls', { ...row, status: 'dispatching', version: row.version + 1 });
      installation.store.seed('attempts', {
        tool_call_id: id,
        attempt: 1,
        tenant: row.tenant,
        nonce: 'n',
        fence: 1,
        owner: 'ins_1',
        owner_epoch: 2,
        deadline: installation.clock.iso,
        dispatch_intent_at: installation.clock.iso,
        state: 'dispatching',
        settled_at: null,
      });
    };
    expect(await cancel(installation, id)).toBe('cancel_not_supported');
  });
});
