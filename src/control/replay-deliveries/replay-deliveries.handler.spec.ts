import { describe, expect, it } from '@jest/globals';
import { APPROVER, callerWith, Installation, OPERATOR, TENANT } from '../../../test/builders/installation.js';
import { webhookSettings } from '../../../test/builders/outbox-bench.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import type { Caller } from '../../identity/caller.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { ReplayDeliveries, type ReplayTarget } from './replay-deliveries.command.js';
import { ReplayDeliveriesHandler } from './replay-deliveries.handler.js';

const AT = '2031-01-01T00:00:00.000Z';
const CURSOR: TableRow<'sink_cursors'> = {
  sink: 'ops',
  kind: 'webhook',
  position: 40,
  first_position: 0,
  types: null,
  owner_epoch: 2,
  replay_position: null,
  replay_to: null,
  last_error: null,
  failing_since: null,
  updated_at: AT,
};

class Bench {
  readonly installation: Installation;
  private commands = 0;

  constructor(operatorTenant: string | null = TENANT) {
    const settings = settingsWith({ installation: { operatorTenant }, outbox: { sinks: { ops: webhookSettings() } } });
    this.installation = new Installation({ settings });
    this.installation.store.seed('sink_cursors', CURSOR);
  }

  letter(position: number, state: 'parked' | 'dead' = 'dead'): void {
    const row = { sink: 'ops', position, partition: 'call/1', tries: 15, next_at: AT, last_error: 'http_400' };
    this.installation.store.seed('sink_parked', { ...row, state, parked_at: AT });
  }

  replay(target: ReplayTarget, caller: Caller = OPERATOR): Promise<unknown> {
    const { desk, commands, settings } = this.installation;
    this.commands += 1;
    return new ReplayDeliveriesHandler(commands, desk, settings)
      .execute(new ReplayDeliveries(caller, target, `cmd-${this.commands}`))
      .then(
        () => 'accepted',
        (error: { code?: string }) => error.code ?? error,
      );
  }

  get cursor(): TableRow<'sink_cursors'> | undefined {
    return this.installation.store.rows('sink_cursors')[0];
  }

  states(): unknown {
    return this.installation.store.rows('sink_parked').map(({ position, state, tries }) => [position, state, tries]);
  }
}

const letters = (position: number | 'all', sink = 'ops'): ReplayTarget => ({ kind: 'dead_letters', sink, position });
const range = (fromPosition: number, toPosition: number | null = null): ReplayTarget => ({
  kind: 'range',
  sink: 'ops',
  fromPosition,
  toPosition,
});

describe('telling a sink again', () => {
  it('makes one dead letter, or all of them, wait for delivery as if they were new', async () => {
    const bench = new Bench();
    for (const position of [3, 5, 9]) bench.letter(position);
    expect(await bench.replay(letters(5))).toBe('accepted');
    expect(bench.states()).toEqual([
      [3, 'dead', 15],
      [5, 'parked', 0],
      [9, 'dead', 15],
    ]);
    expect(await bench.replay(letters('all'))).toBe('accepted');
    expect(bench.states()).toEqual([
      [3, 'parked', 0],
      [5, 'parked', 0],
      [9, 'parked', 0],
    ]);
    expect(bench.installation.store.lastTypes).toEqual(['control.accepted']);
  });

  it('does not find what is no dead letter', async () => {
    const bench = new Bench();
    bench.letter(4, 'parked');
    expect(await bench.replay(letters(4))).toBe('dead_letter_not_found');
    expect(await bench.replay(letters(3))).toBe('dead_letter_not_found');
    expect(await bench.replay(letters('all'))).toBe('dead_letter_not_found');
    expect(await bench.replay(letters('all', 'nobody'))).toBe('sink_not_found');
    expect(bench.installation.store.lastTypes).toEqual(['control.rejected']);
  });

  it('repeats a range, and at most what the sink has been told already', async () => {
    const bench = new Bench();
    expect(await bench.replay(range(10, 20))).toBe('accepted');
    expect(bench.cursor).toMatchObject({ position: 40, replay_position: 9, replay_to: 20 });
    expect(await bench.replay(range(1, 2))).toBe('replay_under_way');
    const open = new Bench();
    expect(await open.replay(range(0, 9_999))).toBe('accepted');
    expect(open.cursor).toMatchObject({ replay_position: -1, replay_to: 40 });
    expect(await new Bench().replay(range(41))).toBe('invalid_request');
    expect(await new Bench().replay(range(7, 6))).toBe('invalid_request');
  });

  it.each([
    ['an approver', APPROVER, TENANT],
    ['an operator of another tenant', callerWith({ ...OPERATOR, tenant: 'globex' }), TENANT],
    ['an agent with the role of an operator', callerWith({ roles: ['operator'] }), TENANT],
    ['any operator where no tenant operates the installation', OPERATOR, null],
  ] as const)('is refused to %s, and recorded', async (_, caller, tenant) => {
    const bench = new Bench(tenant);
    bench.letter(3);
    expect(await bench.replay(letters('all'), caller)).toBe('not_authorized');
    expect(await bench.replay(range(0), caller)).toBe('not_authorized');
    expect(bench.states()).toEqual([[3, 'dead', 15]]);
    expect(bench.cursor?.replay_to).toBeNull();
    expect(bench.installation.store.lastTypes).toEqual(['control.rejected']);
  });
});
