import { describe, expect, it } from '@jest/globals';
import { AGENT, callerWith, Installation, OPERATOR, refundCapability } from '../../../test/builders/installation.js';
import type { Changes } from '../../../test/contract/capabilities/manifest-examples.js';
import { SUCCESS, VerifyingInstallation } from '../../../test/builders/outcome-installation.js';
import { retryRefusal } from '../../domain/tool-call/tool-call.retry.js';
import type { Caller } from '../../identity/caller.js';
import { ResolveHandoff, type FoundOut } from './resolve-handoff.command.js';
import { ResolveHandoffHandler } from './resolve-handoff.handler.js';

async function handedOff(changes: Changes = {}): Promise<{ installation: Installation; id: string }> {
  const installation = new Installation({ capabilities: [refundCapability(changes)] });
  const id = await installation.propose();
  await installation.record(
    id,
    { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null },
    {
      kind: 'hand_off',
      handoff: { reason: 'attempts_exhausted', evidenceRefs: [] },
      opened: { handoffId: 'hnd_1', packet: {} },
    },
  );
  return { installation, id };
}

const resolve = (
  { desk, commands, gate }: Installation,
  id: string,
  more: Partial<FoundOut> = {},
  caller: Caller = OPERATOR,
): Promise<unknown> => {
  const found: FoundOut = { finding: 'happened', evidenceRefs: ['statement-9'], note: null, ...more };
  return new ResolveHandoffHandler(desk, commands, gate).execute(new ResolveHandoff(caller, id, found, null)).then(
    () => 'accepted',
    (error: { code?: string }) => error.code ?? error,
  );
};

describe('a person’s finding about a call that nobody could settle', () => {
  it('is recorded with its evidence and closes the intent; the execution state stays', async () => {
    const { installation, id } = await handedOff();
    expect(installation.store.rows('open_intents')).toHaveLength(1);
    expect(await resolve(installation, id)).toBe('accepted');
    const { state } = await installation.call(id);
    expect(state).toMatchObject({ status: 'manual_handoff', resolution: { finding: 'happened' } });
    expect(installation.store.events.at(-1)?.payload).toMatchObject({
      handoffId: 'hnd_1',
      evidenceRefs: ['statement-9'],
      resolvedBy: { sub: 'olga' },
    });
    expect(installation.store.rows('open_intents')).toEqual([]);
  });

  it.each(['happened', 'not_happened', 'partial'] as const)('%s needs evidence', async (finding) => {
    const { installation, id } = await handedOff();
    expect(await resolve(installation, id, { finding, evidenceRefs: [] })).toBe('evidence_required');
  });

  it('that nobody can know needs none', async () => {
    const { installation, id } = await handedOff();
    expect(await resolve(installation, id, { finding: 'unknowable', evidenceRefs: [] })).toBe('accepted');
  });

  it('is said once', async () => {
    const { installation, id } = await handedOff();
    await resolve(installation, id);
    expect(await resolve(installation, id, { finding: 'not_happened' })).toBe('handoff_not_open');
  });

  it.each([
    ['not_happened', 'happened'],
    ['happened', 'failed'],
    ['partial', 'happened'],
  ] as const)(
    '%s is contradicted by evidence on record that says %s, and nothing is tried again',
    async (finding, meaning) => {
      const { installation, id } = await handedOff();
      const callback = { callbackId: 'cb-1', source: 'psp', meaning };
      await installation.record(id, { kind: 'record_callback', callback });
      expect(await resolve(installation, id, { finding })).toBe('accepted');
      const { state } = await installation.call(id);
      expect(state).toMatchObject({ resolution: { finding }, contradicted: true });
      expect(retryRefusal(state)).toMatchObject({ code: 'retry_not_allowed' });
    },
  );

  it.each([
    ['not_happened', 'failed'],
    ['happened', 'happened'],
    ['not_happened', 'unclear'],
  ] as const)('%s stands beside evidence that says %s', async (finding, meaning) => {
    const { installation, id } = await handedOff();
    await installation.record(id, {
      kind: 'record_callback',
      callback: { callbackId: 'cb-1', source: 'psp', meaning },
    });
    await resolve(installation, id, { finding });
    expect((await installation.call(id)).state).toMatchObject({ resolution: { finding }, contradicted: false });
  });

  it('is for operators, about calls that were handed off', async () => {
    const { installation, id } = await handedOff();
    expect(await resolve(installation, id, {}, AGENT)).toBe('not_authorized');
    expect(await resolve(installation, 'call_0')).toBe('tool_call_not_found');
    const open = await installation.propose({ arguments: { orderId: 'o-2', amountMinor: 1 } });
    expect(await resolve(installation, open)).toBe('handoff_not_open');
  });
});

describe('a finding for which the definition asks for two people', () => {
  const SECOND = callerWith({ actor: { sub: 'otto' }, roles: ['operator'], isAgent: false });

  it('counts when another operator finds the same, with the evidence of both', async () => {
    const { installation, id } = await handedOff({ resolvers: 2 });
    expect(await resolve(installation, id)).toBe('accepted');
    expect((await installation.call(id)).state).toMatchObject({ status: 'manual_handoff', resolution: null });
    expect(installation.store.rows('open_intents')).toHaveLength(1);
    const first = installation.store.events.at(-1);
    expect(await resolve(installation, id)).toBe('second_person_required');
    expect(await resolve(installation, id, { finding: 'not_happened' }, SECOND)).toBe('accepted');
    expect((await installation.call(id)).state).toMatchObject({ resolution: null });
    expect(await resolve(installation, id, { evidenceRefs: ['ticket-7'] }, SECOND)).toBe('accepted');
    expect((await installation.call(id)).state).toMatchObject({ resolution: { finding: 'happened' } });
    expect(installation.store.events.at(-1)?.payload).toMatchObject({
      evidenceRefs: ['statement-9', 'ticket-7'],
      confirms: first?.envelope.eventId,
      resolvedBy: { sub: 'otto' },
    });
  });
});

describe('a finding about a call whose outcome is verified', () => {
  async function handedOffAndVerified(more: object = {}) {
    const installation = new VerifyingInstallation(SUCCESS, more);
    const id = await installation.propose();
    await installation.record(
      id,
      { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null },
      {
        kind: 'hand_off',
        handoff: { reason: 'attempts_exhausted', evidenceRefs: [] },
        opened: { handoffId: 'hnd_1', packet: {} },
      },
    );
    return { installation, id };
  }

  it.each([
    ['happened', 'confirmed_success'],
    ['not_happened', 'confirmed_failure'],
    ['partial', 'confirmed_failure'],
    ['unknowable', 'inconclusive'],
  ] as const)('%s makes the outcome %s in the same unit, and the execution stays', async (finding, status) => {
    const { installation, id } = await handedOffAndVerified();
    expect(await resolve(installation, id, { finding })).toBe('accepted');
    expect(installation.store.lastTypes.slice(0, 3)).toEqual([
      'control.accepted',
      'manual.handoff_resolved',
      'feedback.received',
    ]);
    expect(installation.outcome(id)?.status).toBe(status);
    expect((await installation.call(id)).state.status).toBe('manual_handoff');
    const received = installation.store.events.find(({ envelope }) => envelope.eventType === 'feedback.received');
    expect(received?.payload).toMatchObject({
      basis: 'operator',
      source: 'olga',
      evidenceRefs: [{ kind: 'operator_finding', ref: 'statement-9' }],
    });
  });

  it('moves no outcome by the word of the first of two people', async () => {
    const { installation, id } = await handedOffAndVerified({ resolvers: 2 });
    expect(await resolve(installation, id)).toBe('accepted');
    expect(installation.outcome(id)?.status).toBe('pending');
    const second = callerWith({ actor: { sub: 'otto' }, roles: ['operator'], isAgent: false });
    expect(await resolve(installation, id, {}, second)).toBe('accepted');
    expect(installation.outcome(id)?.status).toBe('confirmed_success');
  });
});
