import { describe, expect, it } from '@jest/globals';
import { AGENT, Installation, OPERATOR } from '../../../test/builders/installation.js';
import type { Caller } from '../../identity/caller.js';
import { ResolveHandoff, type FoundOut } from './resolve-handoff.command.js';
import { ResolveHandoffHandler } from './resolve-handoff.handler.js';

async function handedOff(): Promise<{ installation: Installation; id: string }> {
  const installation = new Installation();
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
  { desk, commands }: Installation,
  id: string,
  more: Partial<FoundOut> = {},
  caller: Caller = OPERATOR,
): Promise<unknown> => {
  const found: FoundOut = { finding: 'happened', evidenceRefs: ['statement-9'], note: null, ...more };
  return new ResolveHandoffHandler(desk, commands).execute(new ResolveHandoff(caller, id, found, null)).then(
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

  it('is for operators, about calls that were handed off', async () => {
    const { installation, id } = await handedOff();
    expect(await resolve(installation, id, {}, AGENT)).toBe('not_authorized');
    expect(await resolve(installation, 'call_0')).toBe('tool_call_not_found');
    const open = await installation.propose({ arguments: { orderId: 'o-2', amountMinor: 1 } });
    expect(await resolve(installation, open)).toBe('handoff_not_open');
  });
});
