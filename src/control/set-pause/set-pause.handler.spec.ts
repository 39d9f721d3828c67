import { describe, expect, it } from '@jest/globals';
import { AGENT, APPROVER, callerWith, Installation, OPERATOR, TENANT } from '../../../test/builders/installation.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { PAUSE_REVISION } from '../../capabilities/pause-board.js';
import type { Caller } from '../../identity/caller.js';
import { SetPause, type PauseTarget } from './set-pause.command.js';
import { SetPauseHandler } from './set-pause.handler.js';

const CAPABILITY: PauseTarget = { kind: 'capability', value: 'refund.create' };
const ALL: PauseTarget = { kind: 'all', value: '' };
const GLOBEX = callerWith({ ...OPERATOR, tenant: 'globex' });

const begin = (operatorTenant: string | null = TENANT): Installation =>
  new Installation({ settings: settingsWith({ installation: { operatorTenant } }) });

const set = (
  { desk, commands, gate, settings }: Installation,
  paused: boolean,
  target: PauseTarget = CAPABILITY,
  caller: Caller = OPERATOR,
): Promise<unknown> =>
  new SetPauseHandler(desk, commands, gate, settings).execute(new SetPause(caller, paused, target, null, null)).then(
    () => 'accepted',
    (error: { code?: string }) => error.code ?? error,
  );

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'accepted',
    (error: { code?: string }) => error.code,
  );

const revisionOf = ({ store }: Installation) => store.rows('meta').find(({ name }) => name === PAUSE_REVISION)?.value;

describe('a pause', () => {
  it('stops proposals of its target from the moment it is answered, until it is cleared', async () => {
    const installation = begin();
    expect(await set(installation, true)).toBe('accepted');
    expect(installation.store.lastTypes).toEqual(['control.accepted', 'pause.set']);
    expect(await codeOf(installation.propose())).toBe('capability_paused');
    expect(await set(installation, false)).toBe('accepted');
    expect(installation.store.rows('pauses')).toEqual([]);
    expect(await codeOf(installation.propose())).toBe('accepted');
  });

  it('moves the row that every proposal and dispatch guards, both times', async () => {
    const installation = begin();
    const revisions = [revisionOf(installation)];
    await set(installation, true);
    revisions.push(revisionOf(installation));
    await set(installation, false);
    revisions.push(revisionOf(installation));
    expect(new Set(revisions).size).toBe(3);
  });

  it.each([
    [{ kind: 'tenant', value: TENANT }, 'paused'],
    [{ kind: 'principal', value: 'agent-7' }, 'paused'],
    [ALL, 'paused'],
    [{ kind: 'principal', value: 'bob' }, 'accepted'],
    [{ kind: 'capability', value: 'payout.create' }, 'accepted'],
  ] as const)('of %p leaves a proposal %s', async (target, code) => {
    const installation = begin();
    await set(installation, true, target);
    expect(await codeOf(installation.propose())).toBe(code);
  });

  it('is set once and cleared once', async () => {
    const installation = begin();
    expect(await set(installation, false)).toBe('not_paused');
    await set(installation, true);
    expect(await set(installation, true)).toBe('already_paused');
  });

  it('of one tenant is nothing to another', async () => {
    const installation = begin();
    await set(installation, true);
    expect(await set(installation, false, CAPABILITY, GLOBEX)).toBe('not_paused');
    expect(await codeOf(installation.propose({}, callerWith({ tenant: 'globex' })))).toBe('accepted');
  });

  it.each([AGENT, APPROVER])('is for operators alone', async (caller) => {
    const installation = begin();
    expect(await set(installation, true, CAPABILITY, caller)).toBe('not_authorized');
    expect(installation.store.lastTypes).toEqual(['control.rejected']);
  });

  it('of everything is for operators of the installation alone', async () => {
    expect(await set(begin(), true, ALL, GLOBEX)).toBe('not_authorized');
    expect(await set(begin(null), true, ALL)).toBe('not_authorized');
    expect(await set(begin(), true, ALL)).toBe('accepted');
  });

  it('can be set again after it was cleared, whoever did either', async () => {
    const installation = begin();
    for (const paused of [true, false, true, false]) expect(await set(installation, paused, ALL)).toBe('accepted');
  });
});

describe('a capability that the breaker holds', () => {
  const held = (installation: Installation): void => {
    const [row] = installation.store.rows('capabilities');
    if (row !== undefined) installation.store.seed('capabilities', { ...row, state: 'held' });
  };

  it('is released by an operator who unpauses it', async () => {
    const installation = begin();
    held(installation);
    expect(await set(installation, false)).toBe('accepted');
    expect(installation.store.lastTypes).toEqual(['control.accepted', 'capability.released']);
    expect(installation.store.rows('capabilities')[0]).toMatchObject({ state: 'active', stream_version: 1 });
    expect(await codeOf(installation.propose())).toBe('accepted');
  });

  it('is released together with its pause', async () => {
    const installation = begin();
    await set(installation, true);
    held(installation);
    await set(installation, false);
    expect(installation.store.lastTypes).toEqual(['control.accepted', 'capability.released', 'pause.cleared']);
  });

  it('is not released by an operator of another tenant', async () => {
    const installation = begin();
    held(installation);
    expect(await set(installation, false, CAPABILITY, GLOBEX)).toBe('not_paused');
    expect(installation.store.rows('capabilities')[0]?.state).toBe('held');
  });
});
