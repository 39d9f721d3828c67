import { performance } from 'node:perf_hooks';
import { ExportResultCode, type ExportResult } from '@opentelemetry/core';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { HttpClient } from './http-client.js';

const TIMEOUT_MS = 3000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** The operator names the collector, and most run beside the product or in the same network. */
const ALLOWED = ['loopback', 'private'];

/**
 * Sends spans to a collector by OTLP over HTTP, as JSON. Through the one door out like everything else, which is why the
 * exporter of OpenTelemetry does not do it, and on a connection of its own, so that a slow collector never takes one from
 * a tool.
 */
export class OtlpSpanExporter implements SpanExporter {
  private readonly http = new HttpClient({ connectionsPerOriginMax: 1, connectTimeoutMs: TIMEOUT_MS });
  private readonly sending = new Set<Promise<void>>();

  constructor(private readonly url: string) {}

  /** Answers within `TIMEOUT_MS`, whatever the collector does. */
  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    const arrival = this.send(spans).catch(() => false);
    const sent = arrival.then((hasArrived) => {
      this.sending.delete(sent);
      done({ code: hasArrived ? ExportResultCode.SUCCESS : ExportResultCode.FAILED });
    });
    this.sending.add(sent);
  }

  async shutdown(): Promise<void> {
    await Promise.all(this.sending);
    await this.http.destroy();
  }

  private async send(spans: ReadableSpan[]): Promise<boolean> {
    const deadline = performance.now() + TIMEOUT_MS;
    const result = await this.http.send({
      method: 'POST',
      url: this.url,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JsonTraceSerializer.serializeRequest(spans) ?? []),
      allowAddresses: ALLOWED,
      sendBeforeMonotonicMs: deadline,
      deadlineMonotonicMs: deadline,
      responseBytesMax: ANSWER_BYTES_MAX,
    });
    return result.kind === 'response' && result.status >= 200 && result.status < 300;
  }
}
