import { connect, type Socket } from 'node:net';
import type { EventRepresentation } from '../../src/client/contract/events.js';

export interface StreamedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: EventRepresentation;
}

/** Reads what a server-sent event stream says (WHATWG HTML, section 9.2), piece by piece; half an event is none. */
export class StreamParser {
  readonly events: StreamedEvent[] = [];
  readonly comments: string[] = [];
  private rest = '';

  push(text: string): void {
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop() ?? '';
    for (const block of blocks) this.take(block.split('\n'));
  }

  private take(lines: readonly string[]): void {
    const fields = new Map<string, string>();
    for (const line of lines) {
      if (line.startsWith(':')) this.comments.push(line.slice(1).trim());
      else fields.set(line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim());
    }
    const data = fields.get('data');
    if (data === undefined) return;
    this.events.push({
      id: fields.get('id') ?? '',
      type: fields.get('event') ?? '',
      data: JSON.parse(data) as EventRepresentation,
    });
  }
}

/** A connection that follows `/v1/events`. */
export class OpenStream {
  readonly ended: Promise<void>;
  private readonly parser = new StreamParser();

  private constructor(
    readonly response: Response,
    private readonly abort: AbortController,
  ) {
    this.ended = this.read().catch(() => undefined);
  }

  static async open(url: string, token: string, query = '', lastEventId?: string): Promise<OpenStream> {
    const abort = new AbortController();
    const response = await fetch(`${url}/v1/events${query}`, {
      headers: {
        authorization: `Bearer ${token}`,
        accept: 'text/event-stream',
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
      signal: abort.signal,
    });
    if (response.status !== 200) throw new Error(`the stream was refused: ${await response.text()}`);
    return new OpenStream(response, abort);
  }

  get events(): readonly StreamedEvent[] {
    return this.parser.events;
  }

  get comments(): readonly string[] {
    return this.parser.comments;
  }

  /** Breaks the connection, wherever it is. */
  async cut(): Promise<void> {
    this.abort.abort();
    await this.ended;
  }

  private async read(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of this.response.body as unknown as AsyncIterable<Uint8Array>) {
      this.parser.push(decoder.decode(chunk, { stream: true }));
    }
  }
}

/** A connection that asks for the stream and then takes nothing from it until it is told to. */
export class LazyStream {
  readonly closed: Promise<void>;
  private text = '';

  private constructor(private readonly socket: Socket) {
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => (this.text += chunk.toString('latin1')));
    socket.pause();
  }

  static async open(url: string, token: string, query = ''): Promise<LazyStream> {
    const { hostname, port } = new URL(url);
    const socket = connect({ host: hostname, port: Number(port) });
    const stream = new LazyStream(socket);
    socket.write(
      `GET /v1/events${query} HTTP/1.0\r\nhost: x\r\nauthorization: Bearer ${token}\r\naccept: text/event-stream\r\n\r\n`,
    );
    return stream;
  }

  /** Breaks the connection as a machine that goes away does. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Takes what has arrived, until the server closes. Without chunks, because HTTP/1.0 has none. */
  async drain(): Promise<StreamParser> {
    this.socket.resume();
    await this.closed;
    const parser = new StreamParser();
    parser.push(this.text.slice(this.text.indexOf('\r\n\r\n') + 4));
    return parser;
  }
}
