import { describe, expect, it } from '@jest/globals';
import { callerWith, Installation, OPERATOR, TENANT } from '../../test/builders/installation.js';
import { CountersignError } from '../domain/errors/countersign-error.js';
import type { ErrorCode } from '../domain/errors/error-codes.js';
import { GuardFailed } from '../storage/unit.js';
import type { UnitDraft } from '../storage/units/unit-draft.js';
import { AlreadyDone, type About, type Asked } from './command-log.js';

const ASKED: Asked = {
  type: 'cancel',
  target: { toolCallId: 'call_1' },
  details: { reason: 'changed my mind' },
  commandId: 'cmd-of-a-client',
};
const ABOUT: About = { correlationId: 'call_1', runId: 'run_1', sessionId: 'ses_1' };

type Decide = (start: (about: About) => UnitDraft, now: string) => Promise<UnitDraft>;
const accept: Decide = async (start) => start(ABOUT);
const refuse =
  (code: ErrorCode): Decide =>
  async () => {
    throw new CountersignError(code, 'because', { toolCallId: 'call_1', pointer: '/x' });
  };

const carryOut = (installation: Installation, asked = ASKED, decide: Decide = accept, caller = OPERATOR) =>
  installation.commands.carryOut(caller, asked, decide);

describe('a control command that is accepted', () => {
  it('is one unit that begins with the command and holds what it decided', async () => {
    const installation = new Installation();
    const answer = await carryOut(installation, ASKED, async (start, now) => {
      const draft = start(ABOUT);
      draft.append(
        { kind: 'policy', id: 'acme' },
        0,
        [{ type: 'pause.set', payload: { target: { kind: 'tenant', value: 'acme' }, reason: now } }],
        {},
      );
      return draft;
    });
    expect(answer).toEqual({ commandId: 'cmd-of-a-client' });
    expect(installation.store.units).toHaveLength(1);
    expect(installation.store.lastTypes).toEqual(['control.accepted', 'pause.set']);
    const [command, decided] = installation.store.events;
    expect(command).toMatchObject({
      envelope: {
        streamKind: 'command',
        streamId: 'acme/cmd-of-a-client',
        actor: { sub: 'olga' },
        commandId: 'cmd-of-a-client',
        correlationId: 'call_1',
        runId: 'run_1',
        causationId: null,
        causeKind: 'external',
      },
      payload: {
        type: 'cancel',
        target: { toolCallId: 'call_1' },
        issuer: { sub: 'olga' },
        receivedAt: installation.clock.iso,
        requestDigest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      },
    });
    expect(decided?.envelope).toMatchObject({
      causationId: command?.envelope.eventId,
      commandId: 'cmd-of-a-client',
    });
  });

  it('has a row that says so', async () => {
    const installation = new Installation();
    await carryOut(installation);
    expect(installation.store.rows('control_commands')).toEqual([
      expect.objectContaining({
        tenant: TENANT,
        command_id: 'cmd-of-a-client',
        type: 'cancel',
        issuer: '["olga"]',
        status: 'accepted',
        code: null,
        event_id: installation.store.events[0]?.envelope.eventId,
      }),
    ]);
  });

  it('gets a name of ours where the client gave none', async () => {
    const installation = new Installation();
    const { commandId } = await carryOut(installation, { ...ASKED, commandId: null });
    expect(commandId).toMatch(/^cmd_/);
    expect(installation.store.rows('control_commands')[0]?.command_id).toBe(commandId);
  });

  it('repeats its answer and decides nothing again', async () => {
    const installation = new Installation();
    await carryOut(installation);
    let decided = 0;
    const again = await carryOut(installation, ASKED, async (start) => {
      decided += 1;
      return start(ABOUT);
    });
    expect(again).toEqual({ commandId: 'cmd-of-a-client' });
    expect(decided).toBe(0);
    expect(installation.store.units).toHaveLength(1);
  });

  it('does not stand in the way of the same id in another tenant', async () => {
    const installation = new Installation();
    await carryOut(installation);
    await carryOut(installation, ASKED, accept, callerWith({ ...OPERATOR, tenant: 'globex' }));
    expect(installation.store.rows('control_commands').map(({ tenant }) => tenant)).toEqual(['acme', 'globex']);
  });

  it('is acknowledged and not recorded where its work is done already', async () => {
    const installation = new Installation();
    const answer = await carryOut(installation, ASKED, async () => {
      throw new AlreadyDone(null);
    });
    expect(answer).toEqual({ commandId: 'cmd-of-a-client' });
    expect(installation.store.units).toEqual([]);
  });
});

describe('a command id that is used again', () => {
  it.each([
    ['another type', { ...ASKED, type: 'retry' }, OPERATOR],
    ['another target', { ...ASKED, target: { toolCallId: 'call_2' } }, OPERATOR],
    ['other details', { ...ASKED, details: { reason: 'another' } }, OPERATOR],
    ['another issuer', ASKED, callerWith({ ...OPERATOR, actor: { sub: 'otto' } })],
  ] as const)('for %s is refused and changes nothing', async (_, asked, caller) => {
    const installation = new Installation();
    await carryOut(installation);
    await expect(carryOut(installation, asked, accept, caller)).rejects.toMatchObject({ code: 'command_id_conflict' });
    expect(installation.store.units).toHaveLength(1);
  });
});

describe('a control command that is refused', () => {
  it('is recorded with its code and thrown with its id and its details', async () => {
    const installation = new Installation();
    await expect(carryOut(installation, ASKED, refuse('cancel_not_supported'))).rejects.toMatchObject({
      code: 'cancel_not_supported',
      message: 'because',
      details: { commandId: 'cmd-of-a-client', toolCallId: 'call_1', pointer: '/x' },
    });
    expect(installation.store.lastTypes).toEqual(['control.rejected']);
    expect(installation.store.events[0]?.payload).toMatchObject({ code: 'cancel_not_supported', message: 'because' });
    expect(installation.store.rows('control_commands')[0]).toMatchObject({
      status: 'rejected',
      code: 'cancel_not_supported',
    });
  });

  it('repeats its refusal even when it would be accepted now', async () => {
    const installation = new Installation();
    const first: unknown = await carryOut(installation, ASKED, refuse('not_paused')).catch((error: unknown) => error);
    const again: unknown = await carryOut(installation).catch((error: unknown) => error);
    expect(again).toBeInstanceOf(CountersignError);
    expect(again).toEqual(first);
    expect(installation.store.units).toHaveLength(1);
  });

  it('leaves nothing of what it had begun', async () => {
    const installation = new Installation();
    await carryOut(installation, ASKED, async (start) => {
      start(ABOUT);
      throw new CountersignError('not_paused', 'because');
    }).catch(() => undefined);
    expect(installation.store.events.map(({ envelope }) => envelope.eventType)).toEqual(['control.rejected']);
  });

  it.each([
    ...(['overloaded', 'store_unavailable', 'durability_failed', 'instance_taken_over', 'contended'] as const),
    ...(['shutting_down', 'engine_error', 'paused', 'capability_paused', 'capability_held', 'store_held'] as const),
    'internal' as const,
  ])('with %s is no fact about it: nothing is recorded and the id stays free', async (code) => {
    const installation = new Installation();
    await expect(carryOut(installation, ASKED, refuse(code))).rejects.toMatchObject({ code });
    expect(installation.store.units).toEqual([]);
    expect(await carryOut(installation)).toEqual({ commandId: 'cmd-of-a-client' });
  });

  it('is still refused where the same command raced with itself and the other copy was recorded', async () => {
    const installation = new Installation();
    let raced = false;
    installation.store.beforeCommit = () => {
      if (raced) return;
      raced = true;
      throw new GuardFailed('command');
    };
    await expect(carryOut(installation, ASKED, refuse('not_paused'))).rejects.toMatchObject({ code: 'not_paused' });
  });

  it('is not recorded where it broke: that is nobody’s refusal', async () => {
    const installation = new Installation();
    const broken: Decide = async () => {
      throw new Error('a broken invariant');
    };
    await expect(carryOut(installation, ASKED, broken)).rejects.toThrow('a broken invariant');
    expect(installation.store.units).toEqual([]);
  });
});

describe('a control command that meets other writers', () => {
  const failing = (installation: Installation, times: number): (() => number) => {
    let tries = 0;
    installation.store.beforeCommit = () => {
      tries += 1;
      if (tries <= times) throw new GuardFailed('tool_call');
    };
    return () => tries;
  };

  it('is decided again, from what is true then', async () => {
    const installation = new Installation();
    failing(installation, 2);
    let decided = 0;
    await carryOut(installation, ASKED, async (start) => {
      decided += 1;
      return start(ABOUT);
    });
    expect(decided).toBe(3);
    expect(installation.store.units).toHaveLength(1);
  });

  it('gives up after three times and records nothing', async () => {
    const installation = new Installation();
    const tries = failing(installation, 99);
    await expect(carryOut(installation)).rejects.toMatchObject({ code: 'contended' });
    expect(tries()).toBe(3);
    expect(installation.store.units).toEqual([]);
  });

  it('finds the answer that its own other copy got meanwhile', async () => {
    const installation = new Installation();
    let first = true;
    const answer = await carryOut(installation, ASKED, async (start) => {
      if (first) {
        first = false;
        await carryOut(installation);
      }
      return start(ABOUT);
    });
    expect(answer).toEqual({ commandId: 'cmd-of-a-client' });
    expect(installation.store.units).toHaveLength(1);
  });
});
