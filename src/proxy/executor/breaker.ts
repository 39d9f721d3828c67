import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import type { NewEvent } from '../../domain/events/envelope.js';
import { GuardFailed } from '../../storage/unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';

/**
 * Holds a capability after so many attempts in a row that nobody can account for: going on would only make more calls
 * whose result is unknown. It reads the durable feed like everybody else. An operator releases the capability with
 * `unpause`.
 */
@Injectable()
export class Breaker {
  private readonly inARow = new Map<string, number>();
  private stopListening: () => void = () => {};

  constructor(
    private readonly desk: UnitDesk,
    private readonly settings: Settings,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.stopListening = this.desk.feed.subscribe('breaker', ({ unit }) => {
      for (const { events } of unit.appends) for (const event of events) this.note(event);
    });
  }

  stop(): void {
    this.stopListening();
  }

  private note(event: NewEvent): void {
    const end = endOf(event);
    const name = event.refs.capabilityId?.split('@')[0];
    if (end === null || name === undefined) return;
    if (end === 'accounted') {
      this.inARow.delete(name);
      return;
    }
    const count = (this.inARow.get(name) ?? 0) + 1;
    this.inARow.set(name, count);
    if (count < this.settings.execution.breakerFailuresMax) return;
    this.inARow.delete(name);
    void this.hold(name, event.eventId, `${count} attempts in a row were unknown or not sent`);
  }

  private async hold(name: string, causationId: string, reason: string): Promise<void> {
    try {
      const row = await this.desk.read.capability(name);
      if (row === null || row.state !== 'active') return;
      const draft = this.desk.beginInstallation(name, causationId);
      const payload = { capabilityVersion: row.version, reason };
      const stream = { kind: 'capability', id: name } as const;
      const refs = { capabilityId: `${name}@${row.version}` };
      const [eventId] = draft.append(stream, row.stream_version, [{ type: 'capability.held', payload }], refs);
      draft.write({
        op: 'set',
        table: 'capabilities',
        where: { name, version: row.version, stream_version: row.stream_version },
        set: {
          state: 'held',
          stream_version: row.stream_version + 1,
          last_event_id: eventId as string,
          updated_at: draft.context.occurredAt,
        },
        guard: 'capability',
      });
      await this.desk.commit(draft);
      this.logger.warn('capability held', { capability: name });
    } catch (error) {
      if (error instanceof GuardFailed) return;
      this.logger.error('capability could not be held', { capability: name, error: errorName(error) });
    }
  }
}

/** Whether an event says that an attempt can be accounted for; null when it ends no attempt. */
function endOf(event: NewEvent): 'accounted' | 'unaccounted' | null {
  if (event.type === 'tool.call.completed') return 'accounted';
  if (event.type === 'tool.call.result_unknown') return 'unaccounted';
  if (event.type !== 'tool.call.failed') return null;
  return event.payload['basis'] === 'not_sent' ? 'unaccounted' : 'accounted';
}
