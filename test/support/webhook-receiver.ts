import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A delivery as it arrived. */
export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly id: string;
  readonly type: string;
  readonly subject: string;
  readonly position: number;
}

/** Answers one delivery, or does something else with the connection. */
export type Answerer = (request: WebhookRequest, response: ServerResponse) => unknown;

const takeIt: Answerer = (_, response) => response.writeHead(204).end();

/** A webhook receiver that keeps every delivery that arrives, whatever it answers. */
export class WebhookReceiver {
  readonly requests: WebhookRequest[] = [];
  answer: Answerer = takeIt;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server);
    server.on('request', (request, response) => void receiver.take(request, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/hook`;
  }

  /** Ids of what arrived, without repetitions, in the order in which they came first. */
  get ids(): readonly string[] {
    return [...new Set(this.requests.map(({ id }) => id))];
  }

  takeEverything(): void {
    this.answer = takeIt;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString('utf8');
    const event = JSON.parse(body) as { id: string; type: string; subject: string; sequence: string };
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const { id, type, subject } = event;
    const seen = { headers, body, id, type, subject, position: Number(event.sequence) };
    this.requests.push(seen);
    this.answer(seen, response);
  }
}
