import { Injectable } from '@nestjs/common';
import type { CommittedUnit } from '../../storage/feed.js';
import { GuardFailed } from '../../storage/unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { StopLegs } from './stop-legs.js';

const BATCH = 1000;
/** Steps at once after a lost race; the sweep comes back to what still moves. */
const STEPS_MAX = 5;

/**
 * Sees every stop through. The commit of the request wakes it, each record about a call of a run that is being stopped
 * wakes it again, and the sweep finds what a crash left half-way.
 */
@Injectable()
export class StoppingRuns {
  /** Run id → tenant, of runs known to be stopping. */
  private readonly stopping = new Map<string, string>();
  private readonly busy = new Map<string, Promise<void>>();
  private readonly again = new Set<string>();
  private stopListening: () => void = () => {};

  constructor(
    private readonly desk: UnitDesk,
    private readonly legs: StopLegs,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.stopListening = this.desk.feed.subscribe('stopping-runs', (durable) => this.onDurable(durable));
  }

  async stop(): Promise<void> {
    this.stopListening();
    await this.idle();
  }

  async idle(): Promise<void> {
    while (this.busy.size > 0) await Promise.all(this.busy.values());
  }

  /** Looks at every run that is being stopped, whoever began it. */
  async tick(): Promise<void> {
    for (const { run_id: runId, tenant } of await this.desk.read.stoppingRuns(BATCH)) {
      this.stopping.set(runId, tenant);
      this.wake(runId, tenant);
    }
    await this.idle();
  }

  private onDurable({ unit }: CommittedUnit): void {
    for (const { stream, events } of unit.appends) {
      if (stream.kind === 'run' && events.some(({ type }) => type === 'stop.requested')) {
        this.stopping.set(stream.id, unit.tenant);
        this.wake(stream.id, unit.tenant);
      } else if (this.stopping.size > 0) {
        const runId = stream.kind === 'run' ? stream.id : events[0]?.refs.runId;
        if (runId !== undefined && this.stopping.has(runId)) this.wake(runId, unit.tenant);
      }
    }
  }

  private wake(runId: string, tenant: string): void {
    if (this.busy.has(runId)) {
      this.again.add(runId);
      return;
    }
    const work = this.work(runId, tenant).finally(() => {
      this.busy.delete(runId);
      if (this.again.delete(runId) && this.stopping.has(runId)) this.wake(runId, tenant);
    });
    this.busy.set(runId, work);
  }

  private async work(runId: string, tenant: string): Promise<void> {
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      try {
        if (await this.legs.step(tenant, runId)) this.stopping.delete(runId);
        return;
      } catch (error) {
        if (error instanceof GuardFailed) continue;
        this.logger.error('a run could not be stopped', { runId, error: errorName(error) });
        return;
      }
    }
  }
}
