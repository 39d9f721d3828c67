import { Injectable } from '@nestjs/common';
import type { Hold } from '../storage/hold.js';
import { Metrics } from '../system/metrics/metrics.js';
import { Readiness } from '../system/readiness.js';
import { CapabilityRegistry } from './capability-registry.js';
import { ExecutionSlots } from './execution-slots.js';
import { PauseBoard } from './pause-board.js';

const FOUND: Readonly<Record<Hold['reason'], string>> = {
  restored: 'the store is a copy from a backup',
  behind: 'the store holds fewer events than were known of it',
  different: 'the store holds other events than were known of it',
  head_missing: 'the note of the size and root of the store is missing',
  head_unreadable: 'the note of the size and root of the store cannot be read',
};

function holdDetail({ reason, head, knownSize }: Hold): string {
  const known = knownSize === null ? 'nothing is known outside' : `${knownSize} were known`;
  return `${FOUND[reason]} (${head.size} events found, ${known}); nothing is sent until an operator accepts it`;
}

/**
 * What is paused or held, and what is on the wire. Readiness says how much is paused and never whose: tenants and people
 * are nobody else's business.
 */
@Injectable()
export class CapabilityWatch {
  constructor(
    pauses: PauseBoard,
    slots: ExecutionSlots,
    registry: CapabilityRegistry,
    readiness: Readiness,
    metrics: Metrics,
  ) {
    readiness.watch(() => {
      const kinds = pauses.list().map(({ target_kind }) => target_kind);
      if (kinds.length === 0) return [];
      const detail = `${kinds.length} in force, of kind ${[...new Set(kinds)].toSorted().join(', ')}`;
      return [{ name: 'paused', weight: 'degraded', detail }];
    });
    readiness.watch(() => {
      const { hold } = pauses;
      return hold === null ? [] : [{ name: 'restored_store', weight: 'degraded', detail: holdDetail(hold) }];
    });
    readiness.watch(() => {
      const held = pauses.heldCapabilities();
      if (held.length === 0) return [];
      const detail = `${held.length} held after too many results that nobody knows; an operator or a look-up releases them`;
      return [{ name: 'held_capabilities', weight: 'degraded', detail, about: held }];
    });
    metrics.gauge('countersign_store_held', '1 while a restored or older store waits for an operator.', () =>
      pauses.hold === null ? 0 : 1,
    );
    metrics.gauge('countersign_pauses', 'Pauses in force.', () => pauses.list().length);
    metrics.gauges('countersign_capability_held', '1 while the capability is held.', ['capability'], () => {
      const held = new Set(pauses.heldCapabilities());
      return registry
        .list()
        .map(({ manifest: { name } }) => ({ labels: { capability: name }, value: held.has(name) ? 1 : 0 }));
    });
    metrics.gauges('countersign_executions_in_flight', 'Calls that hold an execution slot.', ['capability'], () => {
      const { byCapability } = slots.counts();
      return registry
        .list()
        .map(({ manifest: { name } }) => ({ labels: { capability: name }, value: byCapability[name] ?? 0 }));
    });
    metrics.gauge('countersign_executions_in_flight_max', 'execution.maxInFlight.', () => slots.counts().maxInFlight);
  }
}
