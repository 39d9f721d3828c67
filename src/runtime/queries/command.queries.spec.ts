import { beforeEach, describe, expect, it } from '@jest/globals';
import { AGENT, APPROVER, callerWith, Installation, OPERATOR } from '../../../test/builders/installation.js';
import { CancelToolCall } from '../../control/cancel-tool-call/cancel-tool-call.command.js';
import { CancelToolCallHandler } from '../../control/cancel-tool-call/cancel-tool-call.handler.js';
import type { Caller } from '../../identity/caller.js';
import { GetCommand, GetCommandHandler } from './command.queries.js';

const AUDITOR = callerWith({ actor: { sub: 'ada' }, roles: ['auditor'], isAgent: false });

let installation: Installation;

beforeEach(() => {
  installation = new Installation();
});

/** An agent cancels its call, under its own command id. */
async function cancel(toolCallId: string, commandId: string): Promise<void> {
  await new CancelToolCallHandler(installation.desk, installation.commands, installation.gate)
    .execute(new CancelToolCall(AGENT, toolCallId, null, commandId))
    .catch(() => undefined);
}

const get = (commandId: string, caller: Caller = AGENT) =>
  new GetCommandHandler(installation.store).execute(new GetCommand(caller, commandId));

describe('what became of a command', () => {
  it('that was accepted is every event that it caused', async () => {
    const id = await installation.authorized();
    installation.clock.advance(1_000);
    await cancel(id, 'my cancel/1');
    const caused = installation.store.events.slice(-2);
    expect(caused.map(({ envelope }) => envelope.eventType)).toEqual(['control.accepted', 'tool.call.not_executed']);
    expect(await get('my cancel/1')).toEqual({
      commandId: 'my cancel/1',
      type: 'cancel',
      status: 'accepted',
      code: null,
      message: null,
      receivedAt: installation.clock.iso,
      eventIds: caused.map(({ envelope }) => envelope.eventId),
      links: { self: '/v1/control/my%20cancel%2F1' },
    });
  });

  it('that was refused is its code and why', async () => {
    const id = await installation.propose();
    await cancel(id, 'cmd-1');
    const view = await get('cmd-1');
    expect(view).toMatchObject({ status: 'rejected', code: 'cancel_not_supported' });
    expect(view.message).toBe(installation.store.events.at(-1)?.payload['message']);
    expect(view.message).not.toBe('');
    expect(view.eventIds).toEqual([installation.store.events.at(-1)?.envelope.eventId]);
  });

  it.each([
    ['its issuer', AGENT, true],
    ['an operator', OPERATOR, true],
    ['an auditor', AUDITOR, true],
    ['an approver', APPROVER, false],
    ['another agent of the same person', callerWith({ actor: { sub: 'alice', act: { sub: 'agent-8' } } }), false],
    ['the person without the agent', callerWith({ actor: { sub: 'alice' } }), false],
    ['an operator of another tenant', callerWith({ ...OPERATOR, tenant: 'globex' }), false],
    ['the same agent in another tenant', callerWith({ tenant: 'globex' }), false],
    [
      'another agent, though its token has every role',
      callerWith({ actor: { sub: 'eve', act: { sub: 'agent-9' } }, roles: ['operator', 'auditor'] }),
      false,
    ],
  ])('is there for %s: %p', async (_, caller, exists) => {
    await cancel(await installation.authorized(), 'cmd-1');
    if (exists) expect((await get('cmd-1', caller)).commandId).toBe('cmd-1');
    else await expect(get('cmd-1', caller)).rejects.toMatchObject({ code: 'command_not_found' });
  });

  it('that nobody gave is not there', async () => {
    await expect(get('cmd-0', OPERATOR)).rejects.toMatchObject({ code: 'command_not_found' });
  });
});
