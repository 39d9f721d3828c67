import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { PAUSE_REVISION, PauseBoard } from '../../capabilities/pause-board.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import { POLICY_SCOPE } from '../../policy/policy-guard.js';
import { Store } from '../../storage/store.js';
import { IdSource } from '../../system/id-source.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { requireOperator } from '../own-call.js';
import { SetPause, type PauseTarget } from './set-pause.command.js';

/** Sets or clears a pause and moves the guard row, so that everything decided before it is decided again. */
@CommandHandler(SetPause)
export class SetPauseHandler implements ICommandHandler<SetPause> {
  constructor(
    private readonly store: Store,
    private readonly ids: IdSource,
    private readonly log: CommandLog,
    private readonly pauses: PauseBoard,
  ) {}

  async execute(command: SetPause): Promise<Acknowledged> {
    const { caller, paused, target, reason, commandId } = command;
    const asked = {
      type: paused ? 'pause' : 'unpause',
      target: { kind: target.kind, value: target.value },
      details: { reason },
      commandId,
    };
    const acknowledged = await this.log.carryOut(caller, asked, async (start, now) => {
      requireOperator(caller);
      const tenant = target.kind === 'all' ? POLICY_SCOPE : caller.tenant;
      const existing = await this.existing(tenant, target);
      if (paused && existing) throw new CountersignError('already_paused', 'the target is paused already');
      if (!paused && !existing) throw new CountersignError('not_paused', 'the target is not paused');
      const draft = start({ correlationId: target.value === '' ? 'all' : target.value });
      const stream = { kind: 'policy', id: tenant } as const;
      const version = await this.store.read.streamVersion(tenant, stream);
      const payload = { target: { kind: target.kind, value: target.value }, reason };
      const [eventId] = draft.append(stream, version, [{ type: paused ? 'pause.set' : 'pause.cleared', payload }], {});
      const key = { tenant, target_kind: target.kind, target: target.value };
      if (paused) {
        const row = { ...key, reason, set_event_id: eventId as string, set_at: now };
        draft.write({ op: 'insert', table: 'pauses', row, takenGuard: 'pause' });
      } else {
        draft.write({ op: 'delete', table: 'pauses', where: key });
      }
      const value = this.ids.next(ID_PREFIXES.unit);
      return draft.write({ op: 'put', table: 'meta', row: { name: PAUSE_REVISION, value } });
    });
    // A proposal of the same client after this answer must already see it.
    await this.pauses.reload();
    return acknowledged;
  }

  private async existing(tenant: string, target: PauseTarget): Promise<boolean> {
    const rows = await this.store.read.pauses();
    return rows.some((row) => row.tenant === tenant && row.target_kind === target.kind && row.target === target.value);
  }
}
