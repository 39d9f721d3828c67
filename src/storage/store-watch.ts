import { statfs } from 'node:fs/promises';
import { Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import type { ToolCallStatus } from '../domain/tool-call/tool-call.state.js';
import { Metrics } from '../system/metrics/metrics.js';
import { Readiness, type ReadinessReason } from '../system/readiness.js';
import { Store } from './store.js';
import { LANES } from './unit.js';

/** Part of the lane of new proposals that may wait before an operator should know. */
const QUEUE_FULL_PART = 0.8;

/** How long a count of open calls is good: scrapes may come often, and counting many open calls takes milliseconds. */
const COUNTS_MS = 5000;

/**
 * The store, as readiness and metrics see it. A store that cannot write ends the process's usefulness; little space, a
 * long log or a long queue only degrade it, since results and decisions are still recorded.
 */
@Injectable()
export class StoreWatch {
  private freeBytes: number | null = null;
  private counted: Counted | null = null;

  constructor(
    private readonly store: Store,
    private readonly settings: Settings,
    readiness: Readiness,
    metrics: Metrics,
  ) {
    readiness.watch(() => this.reasons());
    this.measure(metrics);
  }

  /** Asks the file system for its free space. */
  async look(): Promise<void> {
    const { bavail, bsize } = await statfs(this.settings.dataDir);
    this.freeBytes = bavail * bsize;
  }

  private reasons(): readonly ReadinessReason[] {
    const { failure, walBytes, lanes } = this.store.status();
    const { diskFreeBytesMin } = this.settings.readiness;
    const { walBytesMax, queueMax } = this.settings.storage;
    const reasons: ReadinessReason[] = [];
    if (failure !== null)
      reasons.push({ name: 'disk', weight: 'not_ready', detail: `the store has failed: ${failure}` });
    if (walBytes > walBytesMax) {
      const detail = `the write-ahead log has ${walBytes} bytes, more than storage.walBytesMax ${walBytesMax}`;
      reasons.push({ name: 'disk', weight: 'degraded', detail });
    }
    if (this.freeBytes !== null && this.freeBytes < diskFreeBytesMin) {
      const detail = `${this.freeBytes} bytes are free, fewer than readiness.diskFreeBytesMin ${diskFreeBytesMin}`;
      reasons.push({ name: 'disk', weight: 'degraded', detail });
    }
    if (lanes.admit >= queueMax * QUEUE_FULL_PART) {
      const detail = `${lanes.admit} proposals wait to be recorded; storage.queueMax is ${queueMax}`;
      reasons.push({ name: 'queue', weight: 'degraded', detail });
    }
    return reasons;
  }

  private measure(metrics: Metrics): void {
    metrics.gauges('countersign_store_queue_units', 'Units that wait for the next flush, by lane.', ['lane'], () => {
      const { lanes } = this.store.status();
      return LANES.map((lane) => ({ labels: { lane }, value: lanes[lane] }));
    });
    metrics.gauge('countersign_store_wal_bytes', 'Size of the write-ahead log.', () => this.store.status().walBytes);
    metrics.gauge('countersign_store_failed', '1 once the store cannot write any more.', () =>
      this.store.status().failure === null ? 0 : 1,
    );
    metrics.gauge('countersign_data_dir_free_bytes', 'Free bytes of the file system of dataDir.', () => this.freeBytes);
    metrics.gauge('countersign_store_position', 'Positions of governed events that are durable.', () =>
      this.store.feed.head(),
    );
    metrics.gauges(
      'countersign_open_calls',
      'Calls that are not settled, by status; handoffs with a finding are left out.',
      ['status'],
      async () => [...(await this.counts()).calls].map(([status, value]) => ({ labels: { status }, value })),
    );
    metrics.gauge(
      'countersign_pending_approvals',
      'Approvals that wait for people.',
      async () => (await this.counts()).pendingApprovals,
    );
  }

  private async counts(): Promise<Counted> {
    const nowMs = performance.now();
    if (this.counted === null || nowMs - this.counted.atMs >= COUNTS_MS) {
      const none = SHOWN.map((status) => [status, 0] as const);
      const calls = new Map([...none, ...(await this.store.read.openCallCounts())]);
      this.counted = { atMs: nowMs, calls, pendingApprovals: await this.store.read.pendingApprovals() };
    }
    return this.counted;
  }
}

interface Counted {
  readonly atMs: number;
  readonly calls: ReadonlyMap<ToolCallStatus, number>;
  readonly pendingApprovals: number;
}

/** Shown with 0 too, so that alerts on them see a series. */
const SHOWN = ['result_unknown', 'reconciling', 'manual_handoff'] as const;
