import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { moveCapability } from '../../capabilities/capability-state.js';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { PAUSE_REVISION } from '../../capabilities/pause-board.js';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import type { Caller } from '../../identity/caller.js';
import { POLICY_SCOPE } from '../../policy/policy-guard.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { CommandLog, type Acknowledged } from '../command-log.js';
import { requireInstallationOperator, requireOperator } from '../own-call.js';
import { SetPause, type PauseTarget } from './set-pause.command.js';

/** Sets or clears a pause and moves the guard row, so that everything decided before it is decided again. */
@CommandHandler(SetPause)
export class SetPauseHandler implements ICommandHandler<SetPause> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly gate: CapabilityGate,
    private readonly settings: Settings,
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
      if (target.kind === 'all') requireInstallationOperator(caller, this.settings);
      else requireOperator(caller);
      const tenant = target.kind === 'all' ? POLICY_SCOPE : caller.tenant;
      const existing = await this.existing(tenant, target);
      if (paused && existing) throw new CountersignError('already_paused', 'the target is paused already');
      const held = paused || target.kind !== 'capability' ? null : await this.heldCapability(caller, target.value);
      if (!paused && !existing && held === null) throw new CountersignError('not_paused', 'the target is not paused');
      const draft = start({ correlationId: target.value === '' ? 'all' : target.value });
      if (held !== null) moveCapability(draft, held, 'released', reason ?? 'released by an operator', 'control-plane');
      if (held !== null && !existing) return draft;
      const stream = { kind: 'policy', id: tenant } as const;
      const version = await this.desk.read.streamVersion(stream);
      const payload = { target: { kind: target.kind, value: target.value }, reason };
      const [eventId] = draft.append(stream, version, [{ type: paused ? 'pause.set' : 'pause.cleared', payload }], {});
      const key = { tenant, target_kind: target.kind, target: target.value };
      if (paused) {
        const row = { ...key, reason, set_event_id: eventId as string, set_at: now };
        draft.write({ op: 'insert', table: 'pauses', row, takenGuard: 'pause' });
      } else {
        draft.write({ op: 'delete', table: 'pauses', where: key });
      }
      const value = this.desk.newId(ID_PREFIXES.unit);
      return draft.write({ op: 'put', table: 'meta', row: { name: PAUSE_REVISION, value } });
    });
    // A proposal of the same client after this answer must already see it.
    await this.gate.lookAgain();
    return acknowledged;
  }

  /** A capability that the breaker holds; an operator who unpauses it has looked at it. */
  private async heldCapability(caller: Caller, name: string): Promise<TableRow<'capabilities'> | null> {
    // A hold is the installation's; an operator of one tenant lifts only that tenant's own pause.
    if (caller.tenant !== this.settings.installation.operatorTenant) return null;
    const row = await this.desk.read.capability(name);
    return row?.state === 'held' ? row : null;
  }

  private async existing(tenant: string, target: PauseTarget): Promise<boolean> {
    const rows = await this.desk.read.pauses();
    return rows.some((row) => row.tenant === tenant && row.target_kind === target.kind && row.target === target.value);
  }
}
