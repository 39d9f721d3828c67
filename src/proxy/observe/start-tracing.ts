import { resourceFromAttributes } from '@opentelemetry/resources';
import { ATTR_SERVICE_INSTANCE_ID, ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions';
import { OtlpSpanExporter } from '../../egress/otlp-span-exporter.js';
import { SystemClock } from '../../system/clock.js';
import type { Logger } from '../../system/logger.js';
import type { Metrics } from '../../system/metrics/metrics.js';
import { SpanBatches } from '../../system/tracing/span-batches.js';
import { PRODUCT_VERSION } from '../../system/product-version.js';
import { Tracing } from '../../system/tracing/tracing.js';

export interface RunningTracing {
  readonly tracing: Tracing;
  /** Sends what is left, as far as the collector takes it at once. */
  stop(): Promise<void>;
}

/** Where spans go, how many, and what tells them from those of other processes. */
export interface TraceTarget {
  readonly otlpUrl: string;
  readonly sampleRatio: number;
  readonly installation: string;
  readonly instanceId: string;
}

export function startTracing(target: TraceTarget, logger: Logger, metrics: Metrics): RunningTracing {
  const batches = new SpanBatches(new OtlpSpanExporter(target.otlpUrl), logger, metrics);
  const resource = resourceFromAttributes({
    [ATTR_SERVICE_NAME]: 'countersign',
    [ATTR_SERVICE_VERSION]: PRODUCT_VERSION,
    [ATTR_SERVICE_INSTANCE_ID]: target.instanceId,
    'countersign.installation': target.installation,
  });
  return {
    tracing: new Tracing(batches, resource, new SystemClock(), target.sampleRatio),
    stop: () => batches.shutdown(),
  };
}
