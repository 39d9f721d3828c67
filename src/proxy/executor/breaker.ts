import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import type { NewEvent } from '../../domain/events/envelope.js';
import { moveCapability } from '../../capabilities/capability-state.js';
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
    if (name === undefined) return;
    // One look-up that settled something shows that the tool can be asked again.
    if (event.type === 'reconciliation.resolved')
      void this.move(name, event.eventId, 'released', 'a look-up settled a call');
    if (end === null) return;
    if (end === 'accounted') {
      this.inARow.delete(name);
      return;
    }
    const count = (this.inARow.get(name) ?? 0) + 1;
    this.inARow.set(name, count);
    if (count < this.settings.execution.breakerFailuresMax) return;
    this.inARow.delete(name);
    void this.move(name, event.eventId, 'held', `${count} attempts in a row were unknown or not sent`);
  }

  private async move(name: string, causationId: string, to: 'held' | 'released', reason: string): Promise<void> {
    try {
      const row = await this.desk.read.capability(name);
      if (row === null || row.state !== (to === 'held' ? 'active' : 'held')) return;
      const draft = this.desk.beginInstallation(name, causationId);
      moveCapability(draft, row, to, reason, 'capability-runtime');
      await this.desk.commit(draft);
      this.logger.warn(`capability ${to}`, { capability: name });
    } catch (error) {
      if (error instanceof GuardFailed) return;
      this.logger.error('capability could not be moved', { capability: name, to, error: errorName(error) });
    }
  }
}

/** Whether an event says that an attempt can be accounted for; null when it ends no attempt. */
function endOf(event: NewEvent): 'accounted' | 'unaccounted' | null {
  // What recovery says about a dead process tells nothing about the tool.
  if (event.synthetic === true) return null;
  if (event.type === 'tool.call.completed') return 'accounted';
  if (event.type === 'tool.call.result_unknown') return 'unaccounted';
  if (event.type !== 'tool.call.failed') return null;
  return event.payload['basis'] === 'not_sent' ? 'unaccounted' : 'accounted';
}
