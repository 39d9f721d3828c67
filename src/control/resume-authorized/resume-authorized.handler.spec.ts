import { describe, expect, it } from '@jest/globals';
import { AGENT, APPROVER, callerWith, Installation, OPERATOR, TENANT } from '../../../test/builders/installation.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import type { Caller } from '../../identity/caller.js';
import { ResumeAuthorized } from './resume-authorized.command.js';
import { ResumeAuthorizedHandler } from './resume-authorized.handler.js';

const begin = (operatorTenant: string | null = TENANT): Installation =>
  new Installation({ settings: settingsWith({ installation: { operatorTenant } }) });

const resume = (
  { commands, settings }: Installation,
  caller: Caller = OPERATOR,
  commandId: string | null = null,
): Promise<unknown> =>
  new ResumeAuthorizedHandler(commands, settings).execute(new ResumeAuthorized(caller, 'looked at', commandId)).then(
    () => 'accepted',
    (error: { code?: string }) => error.code ?? error,
  );

describe('letting authorized calls go on', () => {
  it('is the recorded word of an operator and changes no call itself', async () => {
    const installation = begin();
    const id = await installation.authorized();
    const before = await installation.call(id);
    expect(await resume(installation)).toBe('accepted');
    expect(installation.store.lastTypes).toEqual(['control.accepted']);
    expect(installation.store.events.at(-1)).toMatchObject({
      envelope: { actor: { sub: 'olga' }, correlationId: 'authorized' },
      payload: { type: 'resume_authorized', target: { kind: 'authorized' } },
    });
    expect(await installation.call(id)).toEqual(before);
  });

  it('tells whoever follows the feed, once for each command', async () => {
    const installation = begin();
    const heard: string[] = [];
    installation.store.feed.subscribe('test', ({ unit }) => {
      for (const { events } of unit.appends) heard.push(...events.map(({ payload }) => String(payload['type'])));
    });
    expect(await resume(installation, OPERATOR, 'cmd-1')).toBe('accepted');
    expect(await resume(installation, OPERATOR, 'cmd-1')).toBe('accepted');
    expect(heard).toEqual(['resume_authorized']);
    await resume(installation, OPERATOR, 'cmd-2');
    expect(heard).toEqual(['resume_authorized', 'resume_authorized']);
  });

  it.each([
    ['an agent', AGENT, TENANT],
    ['an agent with the role of an operator', callerWith({ roles: ['operator'] }), TENANT],
    ['an approver', APPROVER, TENANT],
    ['an operator of another tenant', callerWith({ ...OPERATOR, tenant: 'globex' }), TENANT],
    ['any operator where no tenant operates the installation', OPERATOR, null],
  ] as const)('is refused to %s', async (_, caller, operatorTenant) => {
    const installation = begin(operatorTenant);
    expect(await resume(installation, caller)).toBe('not_authorized');
    expect(installation.store.lastTypes).toEqual(['control.rejected']);
  });
});
