import { performance } from 'node:perf_hooks';
import { SpanSender, type Span, type SpanAttributes } from '../system/tracing/span.js';
import { HttpClient } from './http-client.js';
import { otlpJson } from './otlp-json.js';

const TIMEOUT_MS = 3000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** The operator names the collector, and most run beside the product or in the same network. */
const ALLOWED = ['loopback', 'private'];

/**
 * Sends spans to a collector by OTLP over HTTP, as JSON. Through the one door out like everything else, on connections of
 * its own, so that a slow collector never takes one from a tool.
 */
export class OtlpSpanSender extends SpanSender {
  private readonly http = new HttpClient({ connectionsPerOriginMax: 1, connectTimeoutMs: TIMEOUT_MS });

  constructor(
    private readonly url: string,
    private readonly resource: SpanAttributes,
  ) {
    super();
  }

  override async send(spans: readonly Span[]): Promise<boolean> {
    const deadline = performance.now() + TIMEOUT_MS;
    const result = await this.http.send({
      method: 'POST',
      url: this.url,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(otlpJson(spans, this.resource)),
      allowAddresses: ALLOWED,
      sendBeforeMonotonicMs: deadline,
      deadlineMonotonicMs: deadline,
      responseBytesMax: ANSWER_BYTES_MAX,
    });
    return result.kind === 'response' && result.status >= 200 && result.status < 300;
  }

  close(): Promise<void> {
    return this.http.destroy();
  }
}
