import { describe, expect, it } from '@jest/globals';
import type { FastifyReply } from 'fastify';
import { callerWith } from '../../test/builders/installation.js';
import { settingsWith } from '../../test/builders/settings-examples.js';
import type { Caller } from '../identity/caller.js';
import type { TokenVerifier } from '../identity/token-verifier.js';
import { Readiness } from '../system/readiness.js';
import { HealthController } from './health.controller.js';

const CALLERS: Readonly<Record<string, Caller>> = {
  'its operator': callerWith({ tenant: 'acme', actor: { sub: 'otto' }, roles: ['operator'], isAgent: false }),
  'its auditor': callerWith({ tenant: 'acme', actor: { sub: 'anna' }, roles: ['auditor'], isAgent: false }),
  'its approver': callerWith({ tenant: 'acme', actor: { sub: 'lena' }, roles: ['approver'], isAgent: false }),
  'its agent': callerWith({
    tenant: 'acme',
    actor: { sub: 'sam', act: { sub: 'bot' } },
    roles: ['operator'],
    isAgent: true,
  }),
  'another operator': callerWith({ tenant: 'umbrella', actor: { sub: 'oz' }, roles: ['operator'], isAgent: false }),
};

async function shownTo(token: string | null): Promise<readonly string[]> {
  const readiness = new Readiness();
  readiness.watch(() => [
    { name: 'held_capabilities', weight: 'degraded', detail: 'held', about: ['demo.wire'] },
    { name: 'policy_refused', weight: 'degraded', detail: 'refused', about: ['a line'], ofInstallation: true },
  ]);
  const verify = async (name: string): Promise<Caller> => {
    const caller = CALLERS[name];
    if (caller === undefined) throw new Error('no such token');
    return caller;
  };
  const settings = settingsWith({ installation: { operatorTenant: 'acme' } });
  const controller = new HealthController(readiness, { verify } as unknown as TokenVerifier, settings);
  const reply = { code: () => reply, header: () => reply };
  const { reasons } = await controller.ready(token, reply as unknown as FastifyReply);
  expect(reasons.map(({ name }) => name)).toEqual(['held_capabilities', 'policy_refused']);
  return reasons.flatMap(({ about = [] }) => about);
}

describe('what readiness is about', () => {
  it.each([
    [null, []],
    ['nobody', []],
    ['its operator', ['demo.wire', 'a line']],
    ['its auditor', ['demo.wire', 'a line']],
    ['its approver', ['demo.wire']],
    ['its agent', ['demo.wire']],
    ['another operator', ['demo.wire']],
  ] as const)('is shown to %s as far as it is theirs to see', async (token, expected) => {
    expect(await shownTo(token)).toEqual(expected);
  });
});
