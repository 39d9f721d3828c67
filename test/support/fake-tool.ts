import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** One request exactly as it arrived. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly key: string | null;
}

export type FakeAnswer =
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly text: string;
      /** The text goes out in two parts that are cut here. */
      readonly cutAt?: number;
      readonly delayMs?: number;
    }
  | { readonly reset: true; readonly delayMs?: number };

type Behaviour = (request: Received) => FakeAnswer;

const JSON_TYPE = { 'content-type': 'application/json' };

export const jsonAnswer = (value: unknown, status = 200): FakeAnswer => ({
  status,
  headers: JSON_TYPE,
  text: JSON.stringify(value),
});

/** A definitive refusal: nothing was done. */
export const rejection = (status = 422): FakeAnswer => jsonAnswer({ error: { code: 'refused' } }, status);

/**
 * A tool whose answers a test writes. Every request but a GET is an execution: it is counted when it has been read in
 * full, before anything is answered, so the count is what really happened. `GET /effects?key=K` tells what ran for a key.
 */
export class FakeTool {
  readonly received: Received[] = [];
  private readonly behaviours = new Map<string, Behaviour>();
  private resetsLeft = 0;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<FakeTool> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const tool = new FakeTool(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('connection', (socket) => {
      tool.resetsLeft -= 1;
      if (tool.resetsLeft >= 0) socket.resetAndDestroy();
    });
    server.on('request', (request, response) => {
      tool.serve(request, response).catch(() => response.destroy());
    });
    return tool;
  }

  async stop(): Promise<void> {
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }

  /** What the tool answers on a path from now on; without it, `{"ok":true}`. */
  behave(path: string, behaviour: Behaviour): void {
    this.behaviours.set(path, behaviour);
  }

  /** So many connections from now on are reset before anything is read from them. */
  resetConnections(count: number): void {
    this.resetsLeft = count;
  }

  /** Executions on a path, in order. */
  executions(path: string): readonly Received[] {
    return this.received.filter((request) => request.method !== 'GET' && request.path === path);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', this.url);
    const key = request.headers['idempotency-key'];
    const received: Received = {
      method: request.method ?? 'GET',
      path: url.pathname,
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
      key: typeof key === 'string' ? key : null,
    };
    this.received.push(received);
    const answer = url.pathname === '/effects' ? this.effects(url.searchParams.get('key')) : this.answerTo(received);
    if (answer.delayMs !== undefined) await pause(answer.delayMs);
    if ('reset' in answer) {
      request.socket.resetAndDestroy();
      return;
    }
    response.writeHead(answer.status ?? 200, answer.headers ?? {});
    const { text, cutAt = 0 } = answer;
    if (cutAt > 0) response.write(text.slice(0, cutAt));
    if (cutAt > 0) await pause(20);
    response.end(text.slice(cutAt));
  }

  private answerTo(received: Received): FakeAnswer {
    return this.behaviours.get(received.path)?.(received) ?? jsonAnswer({ ok: true });
  }

  private effects(key: string | null): FakeAnswer {
    const own = this.received.filter((request) => request.method !== 'GET' && request.key === key);
    return jsonAnswer({ data: own.map(({ path }, index) => ({ ref: `effect-${index}`, path, state: 'done' })) });
  }
}
