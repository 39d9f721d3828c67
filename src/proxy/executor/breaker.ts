import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { Store } from '../../storage/store.js';
import { GuardFailed } from '../../storage/unit.js';
import { UnitDraft } from '../../storage/units/unit-draft.js';
import { Clock } from '../../system/clock.js';
import { IdSource } from '../../system/id-source.js';
import { Logger, errorName } from '../../system/logger.js';
import type { AttemptEnd } from './attempt.js';
import { PROXY } from './call-recorder.js';

/** Installation-wide events belong to no tenant. */
const INSTALLATION = '*';

/**
 * Holds a capability after so many attempts in a row that nobody can account for: going on would only make more calls
 * whose result is unknown. An operator releases it with `unpause`.
 */
@Injectable()
export class Breaker {
  private readonly inARow = new Map<string, number>();

  constructor(
    private readonly store: Store,
    private readonly ids: IdSource,
    private readonly clock: Clock,
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  async note(tenant: string, toolCallId: string, end: AttemptEnd): Promise<void> {
    if (end === 'not_recorded') return;
    const row = await this.store.read.toolCall(tenant, toolCallId);
    if (row === null) return;
    if (end === 'settled') {
      this.inARow.delete(row.capability);
      return;
    }
    const count = (this.inARow.get(row.capability) ?? 0) + 1;
    this.inARow.set(row.capability, count);
    if (count < this.settings.execution.breakerFailuresMax) return;
    this.inARow.delete(row.capability);
    await this.hold(row.capability, row.last_event_id, `${count} attempts in a row were unknown or not sent`);
  }

  private async hold(name: string, causationId: string, reason: string): Promise<void> {
    const row = await this.store.read.capability(name);
    if (row === null || row.state !== 'active') return;
    const now = new Date(this.clock.now()).toISOString();
    const draft = new UnitDraft(this.ids, {
      tenant: INSTALLATION,
      lane: 'govern',
      actor: PROXY,
      correlationId: name,
      occurredAt: now,
      causationId,
      causeKind: 'event',
    });
    const payload = { capabilityVersion: row.version, reason };
    const stream = { kind: 'capability', id: name } as const;
    const refs = { capabilityId: `${name}@${row.version}` };
    const [eventId] = draft.append(stream, row.stream_version, [{ type: 'capability.held', payload }], refs);
    draft.write({
      op: 'set',
      table: 'capabilities',
      where: { name, version: row.version, stream_version: row.stream_version },
      set: { state: 'held', stream_version: row.stream_version + 1, last_event_id: eventId as string, updated_at: now },
      guard: 'capability',
    });
    try {
      await this.store.commit(draft.build());
      this.logger.warn('capability held', { capability: name });
    } catch (error) {
      if (!(error instanceof GuardFailed)) this.logger.error('capability could not be held', { capability: name, error: errorName(error) });
    }
  }
}
