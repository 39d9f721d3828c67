import { Injectable } from '@nestjs/common';
import type { EventType } from '../../domain/events/catalogue.js';
import type { NewEvent } from '../../domain/events/envelope.js';
import type { ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import { Store } from '../../storage/store.js';
import { Metrics } from '../../system/metrics/metrics.js';

/** The status that a tool call has after an event of this type. */
export const STATUS_AFTER: Partial<Record<EventType, ToolCallStatus>> = {
  'tool.call.proposed': 'proposed',
  'capability.authorized': 'authorized',
  'tool.call.dispatching': 'dispatching',
  'tool.call.dispatched': 'dispatched',
  'tool.call.accepted': 'accepted',
  'tool.call.completed': 'completed',
  'tool.call.failed': 'failed',
  'tool.call.denied': 'denied',
  'tool.call.not_executed': 'not_executed',
  'tool.call.result_unknown': 'result_unknown',
  'reconciliation.started': 'reconciling',
  'tool.call.manual_handoff': 'manual_handoff',
};

/** Counts, from the durable feed, how often calls of each capability have come into each status. */
@Injectable()
export class CallMetrics {
  private readonly calls;

  constructor(store: Store, metrics: Metrics) {
    // Only what is in the registry is ever proposed, so the labels do not grow.
    this.calls = metrics.counter('countersign_calls_total', 'How often a call has come into a status.', [
      'capability',
      'status',
    ]);
    store.feed.subscribe('call-metrics', ({ unit }) => {
      for (const { stream, events } of unit.appends)
        if (stream.kind === 'call') events.forEach((event) => this.note(event));
    });
  }

  private note({ type, refs }: NewEvent): void {
    const status = STATUS_AFTER[type];
    if (status === undefined || refs.capabilityId === undefined) return;
    this.calls.inc({ capability: refs.capabilityId.split('@')[0] as string, status });
  }
}
