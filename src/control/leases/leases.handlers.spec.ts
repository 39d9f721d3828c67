import { beforeEach, describe, expect, it } from '@jest/globals';
import { AGENT, callerWith, OPERATOR } from '../../../test/builders/installation.js';
import { INJECT, LendingInstallation, TOKEN } from '../../../test/builders/lending-installation.js';
import { COMPLETED } from '../../../test/builders/outcome-installation.js';
import { LeaseRevocation } from '../../policy/leases/lease-revocation.js';
import { NoUpstreamRevoker, UpstreamRevocations } from '../../policy/leases/upstream-revocations.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { Readiness } from '../../system/readiness.js';
import { loadLease } from '../../storage/units/lease-in-unit.js';
import { StopRun } from '../stop-run/stop-run.command.js';
import { StopRunHandler } from '../stop-run/stop-run.handler.js';
import { RenewLease, RevokeLease, RevokeLeases, RotateLeaseKey } from './lease.commands.js';
import { RotateLeaseKeyHandler } from './lease-tokens.handlers.js';
import { RenewLeaseHandler } from './renew-lease.handler.js';
import { RevokeLeaseHandler, RevokeLeasesHandler } from './revoke-leases.handler.js';

const TOOL = callerWith({ actor: { sub: 'tool' }, roles: ['connector'], isAgent: false });
const ELSEWHERE = callerWith({ tenant: 'umbrella', actor: { sub: 'otto' }, roles: ['operator'], isAgent: false });

let here: LendingInstallation;
let renewing: RenewLeaseHandler;

async function accepted(orderId = 'o-1'): Promise<string> {
  const id = await here.propose({ arguments: { orderId, amountMinor: 1 } });
  await here.record(id, {
    kind: 'record_acceptance',
    acceptance: { acceptedAt: here.clock.iso, basis: 'ack', externalRequestId: 're_1' },
    sentAt: here.clock.iso,
  });
  return id;
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof CountersignError ? error.code : String(error)),
  );

beforeEach(() => {
  here = new LendingInstallation(TOKEN);
  renewing = new RenewLeaseHandler(here.desk, here.commands, here.leases.tokens, here.settings);
});

/** The token of a lease, as whoever it was made for holds it. */
async function held(leaseId: string): Promise<string | null> {
  const lease = await loadLease(here.desk.read, TOOL.tenant, leaseId);
  return lease === null ? null : here.leases.tokens.tokenOf(lease);
}

const renew = async (
  leaseId: string,
  { caller = TOOL, scopes = null as string[] | null, commandId = null as string | null, token = '' } = {},
) => {
  const shown = token === '' ? await held(leaseId) : token;
  return renewing.execute(new RenewLease(caller, leaseId, { scopes, ttlMs: null, token: shown }, commandId));
};

describe('the renewal of a lease', () => {
  it('puts a new one in its place while its call runs on, with a token for whoever holds it alone', async () => {
    const id = await accepted();
    const { lease_id: first } = here.leaseOf(id);
    const old = await here.tokenOf(id);
    here.clock.advance(30_000);
    const { leaseId, token } = await renew(first);
    expect(here.all.map((row) => [row.lease_id, row.status, row.renews_lease_id])).toEqual([
      [first, 'released', null],
      [leaseId, 'issued', first],
    ]);
    expect(await here.present(old)).toMatchObject({ ok: false, code: 'lease_released' });
    expect(await here.present(token ?? '')).toMatchObject({ ok: true });
    expect(here.store.rows('counters').map(({ value }) => value)).toEqual([1, 1, 1]);
    await here.record(id, { kind: 'complete', completion: COMPLETED, acceptedAt: here.clock.iso, sentAt: null });
    expect(here.leaseOf(id)).toMatchObject({ lease_id: leaseId, status: 'released' });
  });

  it('asked for again under the same name is the same lease and the same token, and nothing new [Q11]', async () => {
    const { lease_id: first } = here.leaseOf(await accepted());
    here.clock.advance(5_000);
    const once = await renew(first, { commandId: 'k1' });
    here.clock.advance(1_000);
    expect(await renew(first, { commandId: 'k1' })).toEqual(once);
    expect(here.all).toHaveLength(2);
    const next = await renew(once.leaseId, { caller: OPERATOR });
    here.clock.advance(1_000);
    const harness = callerWith({ ...AGENT, roles: ['harness', 'connector'] });
    expect([next.token, (await renew(next.leaseId, { caller: harness })).token]).toEqual([null, null]);
  });

  it('gives a token to nobody who does not show the one before, whatever tool of the tenant that is', async () => {
    const { lease_id: first } = here.leaseOf(await accepted());
    const { lease_id: other } = here.leaseOf(await accepted('o-2'));
    here.clock.advance(5_000);
    const wrong = (await held(other)) ?? '';
    const next = await renew(first, { token: wrong });
    expect(next.token).toBeNull();
    here.clock.advance(1_000);
    expect((await renew(next.leaseId, { token: `${await held(next.leaseId)}x` })).token).toBeNull();
    const without = new RenewLease(TOOL, other, { scopes: null, ttlMs: null, token: null }, null);
    expect((await renewing.execute(without)).token).toBeNull();
  });

  it('asked for twice at the same moment is one lease and one token [Q11]', async () => {
    const { lease_id: first } = here.leaseOf(await accepted());
    here.clock.advance(5_000);
    const [one, other] = await Promise.all([renew(first, { commandId: 'k1' }), renew(first, { commandId: 'k1' })]);
    expect(other).toEqual(one);
    expect(here.all).toHaveLength(2);
  });

  it('is refused before the tool has accepted the call, after its end and after a stop [P-49]', async () => {
    const id = await here.propose();
    expect(await codeOf(renew(here.leaseOf(id).lease_id))).toBe('lease_renewal_refused');
    here.policy.allow();
    const second = new LendingInstallation(TOKEN);
    here = second;
    renewing = new RenewLeaseHandler(here.desk, here.commands, here.leases.tokens, here.settings);
    const running = await accepted();
    const { lease_id, run_id } = here.leaseOf(running);
    await new StopRunHandler(here.desk, here.commands).execute(new StopRun(AGENT, run_id, false, null, null));
    expect(here.leaseOf(running)).toMatchObject({ status: 'revoked', status_reason: 'stopped' });
    expect(await codeOf(renew(lease_id))).toBe('lease_revoked');
  });

  it('is never wider, and not for another tenant', async () => {
    const { lease_id } = here.leaseOf(await accepted());
    expect(await codeOf(renew(lease_id, { scopes: ['refund:create', 'admin'] }))).toBe('lease_scope_exceeded');
    expect(await codeOf(renew(lease_id, { caller: { ...TOOL, tenant: 'umbrella' } }))).toBe('lease_not_found');
  });
});

describe('a stop', () => {
  it('leaves what the proxy itself has on the wire its lease, until it is known what became of it', async () => {
    here = new LendingInstallation(INJECT);
    const id = await here.propose();
    await new StopRunHandler(here.desk, here.commands).execute(
      new StopRun(AGENT, here.leaseOf(id).run_id, false, null, null),
    );
    expect(here.leaseOf(id).status).toBe('active');
  });
});

describe('the use of a token', () => {
  it('is for its own call, attempt, environment, tenant and audience, and is refused with a code of its own [K-38]', async () => {
    const id = await here.propose();
    const token = await here.tokenOf(id);
    const refused = async (more: object): Promise<unknown> => {
      const answer = await here.present(token, true, more);
      return answer.ok ? 'ok' : answer.code;
    };
    expect(await refused({ toolCallId: 'call_2' })).toBe('lease_call_mismatch');
    expect(await refused({ attempt: 2 })).toBe('lease_call_mismatch');
    expect(await refused({ environmentId: 'elsewhere' })).toBe('lease_environment_mismatch');
    expect(await refused({ tenant: 'umbrella' })).toBe('lease_not_found');
    expect(await refused({ audience: 'https://other.example' })).toBe('lease_signature_invalid');
    expect(here.leaseOf(id)).toMatchObject({ status: 'issued', uses: 0 });
    expect(await refused({ toolCallId: id, attempt: 1, environmentId: 'prod-payments' })).toBe('ok');
    expect(await refused({})).toBe('lease_exhausted');
    here.clock.advance(61_000);
    expect(await refused({})).toBe('lease_expired');
    expect(here.log.lines.map(({ fields }) => fields['code'])).toContain('lease_exhausted');
    expect(JSON.stringify([here.log.lines, here.store.events, here.all])).not.toContain(token.split('.')[2]);
  });
});

describe('a revocation', () => {
  it('is done once, however often it is asked for; for other tenants the lease does not exist [Q09, X26]', async () => {
    const { lease_id } = here.leaseOf(await here.propose());
    const upstream = new UpstreamRevocations(
      here.desk,
      new NoUpstreamRevoker(),
      here.settings,
      here.log,
      new Readiness(),
    );
    const revoking = new RevokeLeaseHandler(here.desk, here.commands, new LeaseRevocation(here.desk), upstream);
    const revoke = (caller = OPERATOR) => codeOf(revoking.execute(new RevokeLease(caller, lease_id, null, null)));
    expect([await revoke(ELSEWHERE), await revoke(AGENT)]).toEqual(['lease_not_found', 'not_authorized']);
    expect(here.all.map(({ status }) => status)).toEqual(['issued']);
    expect([await revoke(), await revoke()]).toEqual(['ok', 'ok']);
    expect(here.typesOf(lease_id)).toEqual(['lease.issued', 'lease.revoked']);
  });

  it('by key or epoch is for operators of the installation alone, by anything else for those of the tenant [X26]', async () => {
    await here.propose();
    const settings = settingsWith({ installation: { operatorTenant: 'umbrella' } });
    const many = new RevokeLeasesHandler(here.commands, new LeaseRevocation(here.desk), settings);
    const byEpoch = { by: 'epoch', value: '2' } as const;
    const row = here.all[0];
    for (const [by, value] of [
      ['agent', row?.agent],
      ['run', row?.run_id],
      ['capability', row?.capability],
    ] as const) {
      // Even who runs the installation ends by these only what is of their own tenant.
      const theirs = new RevokeLeases(ELSEWHERE, { by, value: value ?? '' }, null, null);
      expect(await many.execute(theirs)).toMatchObject({ revoked: 0 });
    }
    expect(here.all.map(({ status }) => status)).toEqual(['issued']);
    expect(await codeOf(many.execute(new RevokeLeases(OPERATOR, byEpoch, null, null)))).toBe('not_authorized');
    expect(await many.execute(new RevokeLeases(ELSEWHERE, byEpoch, null, null))).toMatchObject({ revoked: 1 });
    expect(await many.execute(new RevokeLeases(OPERATOR, { by: 'agent', value: 'agent-7' }, null, null))).toMatchObject(
      { revoked: 0 },
    );
  });
});

describe('the rotation of the signing key', () => {
  const rotateAs = (caller = OPERATOR, commandId: string | null = null) => {
    const settings = settingsWith({ installation: { operatorTenant: OPERATOR.tenant } });
    const rotating = new RotateLeaseKeyHandler(here.commands, here.leases.tokens, settings);
    return rotating.execute(new RotateLeaseKey(caller, commandId));
  };

  it('is one for a command that comes twice: the second answer is the first', async () => {
    const first = here.leases.tokens.currentKid;
    here.clock.advance(300_000);
    const once = await rotateAs(OPERATOR, 'r1');
    here.clock.advance(300_000);
    expect(await rotateAs(OPERATOR, 'r1')).toEqual(once);
    expect([once.kid === first, here.leases.tokens.currentKid]).toEqual([false, once.kid]);
    expect((await rotateAs()).kid).toBe(once.nextKid);
  });

  it('too early is refused and no command: the same one is carried out later', async () => {
    const first = here.leases.tokens.currentKid;
    expect(await codeOf(rotateAs(OPERATOR, 'r1'))).toBe('lease_key_too_young');
    expect(here.leases.tokens.currentKid).toBe(first);
    here.clock.advance(300_000);
    expect(await codeOf(rotateAs(OPERATOR, 'r1'))).toBe('ok');
  });

  it('is for operators of the installation alone', async () => {
    const first = here.leases.tokens.currentKid;
    here.clock.advance(300_000);
    expect([await codeOf(rotateAs(ELSEWHERE)), await codeOf(rotateAs(AGENT))]).toEqual(Array(2).fill('not_authorized'));
    expect(here.leases.tokens.currentKid).toBe(first);
  });
});
