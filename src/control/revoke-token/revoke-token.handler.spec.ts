import { beforeEach, describe, expect, it } from '@jest/globals';
import { AGENT, APPROVER, callerWith, Installation, OPERATOR, TENANT } from '../../../test/builders/installation.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { Revocations } from '../../identity/revocations.js';
import { RevokeToken, type RevokedTokens } from './revoke-token.command.js';
import { RevokeTokenHandler } from './revoke-token.handler.js';

const ELSEWHERE = callerWith({ ...OPERATOR, tenant: 'umbrella' });

let here: Installation;
let revocations: Revocations;
let handler: RevokeTokenHandler;

beforeEach(() => {
  here = new Installation({ settings: settingsWith({ installation: { operatorTenant: TENANT } }) });
  const revokedTokens = async () => here.store.rows('revoked_tokens');
  revocations = new Revocations({ revokedTokens }, here.clock);
  handler = new RevokeTokenHandler(here.desk, here.commands, revocations, here.settings);
});

const revoke = (tokens: RevokedTokens, caller = OPERATOR): Promise<string> =>
  handler.execute(new RevokeToken(caller, tokens, 'lost')).then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );

const at = (ms: number): string => new Date(here.clock.now() + ms).toISOString();
const isCovered = (tenant: string, sub: string, ms: number): boolean =>
  revocations.covers({ jti: null, tenant, subjects: [sub], issuedAt: Math.floor((here.clock.now() + ms) / 1000) });

describe('the tokens of a subject', () => {
  it('count no more in the tenant that is named, and go on elsewhere [X26]', async () => {
    expect(await revoke({ tenant: 'acme', sub: 'bot', issuedBefore: null })).toBe('ok');
    expect([isCovered('acme', 'bot', 0), isCovered('umbrella', 'bot', 0)]).toEqual([true, false]);
    expect([isCovered('acme', 'sam', 0), isCovered('acme', 'bot', 2_000)]).toEqual([false, false]);
    expect(here.store.lastTypes).toEqual(['control.accepted', 'token.revoked']);
  });

  it('that nobody has yet cannot be revoked: a time to come is refused, on record', async () => {
    expect(await revoke({ tenant: 'acme', sub: 'bot', issuedBefore: at(3_600_000) })).toBe('invalid_request');
    expect(here.store.lastTypes).toEqual(['control.rejected']);
    expect(here.store.rows('revoked_tokens')).toEqual([]);
    expect(isCovered('acme', 'bot', 0)).toBe(false);
    expect(await revoke({ tenant: 'acme', sub: 'bot', issuedBefore: at(-60_000) })).toBe('ok');
    expect([isCovered('acme', 'bot', -61_000), isCovered('acme', 'bot', 0)]).toEqual([true, false]);
  });

  it.each([
    ['an agent', AGENT],
    ['an agent with the role', callerWith({ ...OPERATOR, isAgent: true })],
    ['an approver', APPROVER],
    ['an operator of another tenant, be they its own', ELSEWHERE],
  ])('are revoked by no %s', async (_, caller) => {
    expect(await revoke({ tenant: caller.tenant, sub: 'bot', issuedBefore: null }, caller)).toBe('not_authorized');
    expect(await revoke({ jti: 'one' }, caller)).toBe('not_authorized');
    expect(here.store.rows('revoked_tokens')).toEqual([]);
  });
});
