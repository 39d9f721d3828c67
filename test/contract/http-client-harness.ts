import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { performance } from 'node:perf_hooks';
import { HttpClient, type HttpClientOptions } from '../../src/egress/http-client.js';
import type {
  NoResponseResult,
  OutboundRequest,
  OutboundResult,
  ResponseResult,
} from '../../src/egress/outbound-request.js';
import { RawHttpServer, type RawServerOptions } from './raw-http-server.js';

/** Marks a request, so that undici's own report of what it wrote can be matched with our evidence. */
const ATTEMPT_HEADER = 'x-attempt';

/** Servers and clients of one test, stopped after it, and undici's word on how often each request was written. */
export class HttpClientHarness {
  private readonly servers: RawHttpServer[] = [];
  private readonly clients: HttpClient[] = [];
  private readonly writesOf = new Map<string, number>();
  private attempts = 0;

  constructor() {
    subscribe('undici:client:sendHeaders', this.countWrite);
  }

  async server(options: RawServerOptions = {}): Promise<RawHttpServer> {
    const server = await RawHttpServer.start(options);
    this.servers.push(server);
    return server;
  }

  client(options: HttpClientOptions = {}): HttpClient {
    const client = new HttpClient(options);
    this.clients.push(client);
    return client;
  }

  /** Sends, and checks what must hold of every outcome: never written twice, and the evidence is undici's own. */
  async send(client: HttpClient, url: string, more: Partial<OutboundRequest> = {}): Promise<OutboundResult> {
    this.attempts += 1;
    const attempt = String(this.attempts);
    const now = performance.now();
    const result = await client.send({
      method: 'GET',
      url,
      allowAddresses: ['loopback'],
      sendBeforeMonotonicMs: now + 5_000,
      deadlineMonotonicMs: now + 10_000,
      responseBytesMax: 1_000_000,
      ...more,
      headers: { ...more.headers, [ATTEMPT_HEADER]: attempt },
    });
    const writes = this.writesOf.get(attempt) ?? 0;
    if (writes > 1) throw new Error(`the request was written ${writes} times`);
    if (result.evidence.bytesWritten !== (writes === 1)) throw new Error('the evidence is not what undici did');
    if (result.evidence.headersFlushed && writes === 0) throw new Error('headers were flushed that were never written');
    return result;
  }

  async response(client: HttpClient, url: string, more: Partial<OutboundRequest> = {}): Promise<ResponseResult> {
    const result = await this.send(client, url, more);
    if (result.kind !== 'response') throw new Error(`no response: ${result.cause}`);
    return result;
  }

  async silence(client: HttpClient, url: string, more: Partial<OutboundRequest> = {}): Promise<NoResponseResult> {
    const result = await this.send(client, url, more);
    if (result.kind !== 'no_response') throw new Error(`unexpected response: ${result.status}`);
    return result;
  }

  async stop(): Promise<void> {
    unsubscribe('undici:client:sendHeaders', this.countWrite);
    for (const client of this.clients) await client.destroy();
    for (const server of this.servers) await server.stop();
  }

  private readonly countWrite = (message: unknown): void => {
    const { headers } = message as { readonly headers: string };
    const attempt = new RegExp(`^${ATTEMPT_HEADER}: (\\d+)$`, 'm').exec(headers)?.[1];
    if (attempt !== undefined) this.writesOf.set(attempt, (this.writesOf.get(attempt) ?? 0) + 1);
  };
}

export function textOf(result: ResponseResult): string {
  return Buffer.from(result.body).toString('utf8');
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Holds the event loop, as a long synchronous step or a stopped process would. */
export function blockLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
