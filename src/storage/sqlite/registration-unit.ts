import type { IdSource } from '../../domain/ids/ids.js';
import type { TableRow } from '../rows/tables.js';
import type { InstanceRef } from '../store.js';
import type { Unit, Write } from '../unit.js';
import { UnitDraft } from '../units/unit-draft.js';

/** Where what becomes of processes is told. */
export const INSTALLATION_STREAM = { kind: 'ledger', id: '-' } as const;

const EPOCH_FREE = 'instance_epoch';

export interface Registration {
  readonly instance: InstanceRef;
  /** Every instance that the database knows, the newest last. */
  readonly before: readonly TableRow<'instances'>[];
  readonly nowMs: number;
  readonly ids: IdSource;
}

/**
 * This process under the next epoch; the instance before it is kept as ended, older ones go. With the version of the stream that
 * tells of it, it is on record that the other process had not ended by itself.
 */
export function registrationUnit(registration: Registration, takenOverAtVersion: number | null): Unit {
  const { instance, before, nowMs, ids } = registration;
  const at = new Date(nowMs).toISOString();
  const draft = new UnitDraft(ids, {
    tenant: '*',
    lane: 'govern',
    actor: { sub: 'countersign' },
    correlationId: instance.instanceId,
    occurredAt: at,
    causationId: null,
    causeKind: 'external',
  });
  // Of two that register in one moment, the second finds the epoch taken.
  draft.guard({ name: EPOCH_FREE, table: 'instances', where: { epoch: instance.epoch }, expect: 'absent' });
  if (takenOverAtVersion !== null) {
    const previousInstanceId = before.at(-1)?.instance_id ?? null;
    const payload = { ...instance, previousInstanceId };
    draft.append(INSTALLATION_STREAM, takenOverAtVersion, [{ type: 'instance.taken_over', payload }], {});
  }
  for (const { instance_id, state } of before) draft.write(afterwards(instance_id, state));
  const row = {
    instance_id: instance.instanceId,
    epoch: instance.epoch,
    pid: process.pid,
    started_at: at,
    heartbeat_at: at,
    state: 'running',
  };
  return draft.write({ op: 'insert', table: 'instances', row, takenGuard: EPOCH_FREE }).build();
}

function afterwards(instanceId: string, state: string): Write {
  const where = { instance_id: instanceId };
  return state === 'running'
    ? { op: 'set', table: 'instances', where, set: { state: 'ended' }, guard: EPOCH_FREE }
    : { op: 'delete', table: 'instances', where };
}
