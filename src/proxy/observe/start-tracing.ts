import type { Settings } from '../../config/settings.js';
import { OtlpSpanSender } from '../../egress/otlp-span-sender.js';
import { SystemClock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import type { Metrics } from '../../system/metrics/metrics.js';
import { SystemRandom } from '../../system/random-source.js';
import type { SpanAttributes } from '../../system/tracing/span.js';
import { SpanQueue } from '../../system/tracing/span-queue.js';
import { Tracing } from '../../system/tracing/tracing.js';

export interface RunningTracing {
  readonly tracing: Tracing;
  /** Sends what is left, as far as the collector takes it at once. */
  stop(): Promise<void>;
}

/** Null where no collector is named. `resource` says which process it is. */
export function startTracing(
  { tracing: { otlpUrl, sampleRatio } }: Settings,
  logger: Logger,
  metrics: Metrics,
  resource: SpanAttributes,
): RunningTracing | null {
  if (otlpUrl === null) return null;
  const sender = new OtlpSpanSender(otlpUrl, resource);
  const queue = new SpanQueue(sender, logger, metrics);
  return {
    tracing: new Tracing(queue, new SystemClock(), new SystemRandom(), sampleRatio),
    stop: async () => {
      await queue.close();
      await sender.close();
    },
  };
}
