import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Takes OTLP over HTTP as JSON, and keeps every span and every byte. */
export class TraceCollector {
  readonly spans: ReceivedSpan[] = [];
  readonly bodies: string[] = [];
  /** False: requests are accepted and never answered. */
  answers = true;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<TraceCollector> {
    const server = createServer();
    const collector = new TraceCollector(server);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        if (!collector.answers) return;
        collector.keep(Buffer.concat(chunks).toString());
        response.setHeader('content-type', 'application/json').end('{}');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/v1/traces`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The spans of one call, by the id in their attributes, in the order of their beginning. */
  of(toolCallId: string): readonly ReceivedSpan[] {
    return this.spans
      .filter(({ attributes }) => attributes['countersign.tool_call_id'] === toolCallId)
      .toSorted((left, right) => (left.startTimeUnixNano < right.startTimeUnixNano ? -1 : 1));
  }

  private keep(body: string): void {
    this.bodies.push(body);
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: { scopeSpans: { spans: (ReceivedSpan & { attributes: KeyValue[] })[] }[] }[];
    };
    for (const { scopeSpans } of resourceSpans) {
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        const attributes = Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
        this.spans.push({ ...span, attributes });
      }
    }
  }
}

interface KeyValue {
  readonly key: string;
  readonly value: object;
}
