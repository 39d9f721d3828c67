import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Certificate } from './self-signed-certificate.js';

export interface SeenRequest {
  /** Request line and headers, as they came. */
  readonly head: string;
  readonly body: Buffer;
  readonly socket: Socket;
  /** From 0, over all connections. */
  readonly index: number;
}

export interface RawServerOptions {
  readonly onRequest?: (request: SeenRequest) => void;
  readonly onConnection?: (socket: Socket) => void;
  readonly tls?: Certificate;
}

/** A server that answers with whatever bytes a test wants, and counts what really arrived: the oracle for "sent at most once". */
export class RawHttpServer {
  readonly requests: SeenRequest[] = [];
  readonly sockets: Socket[] = [];
  /** Codes of the errors that connections ended with; a reset by the peer is `ECONNRESET`. */
  readonly errors: (string | undefined)[] = [];
  /** Every byte of every connection. */
  bytesReceived = 0;

  private constructor(
    private readonly server: Server,
    private readonly scheme: string,
  ) {}

  static async start(options: RawServerOptions = {}): Promise<RawHttpServer> {
    const server =
      options.tls === undefined ? createServer() : createTlsServer({ ...options.tls, ALPNProtocols: ['http/1.1'] });
    const raw = new RawHttpServer(server, options.tls === undefined ? 'http' : 'https');
    server.on('connection', (socket: Socket) => {
      raw.sockets.push(socket);
      socket.on('error', () => undefined);
    });
    server.on(options.tls === undefined ? 'connection' : 'secureConnection', (socket: Socket) =>
      raw.serve(socket, options),
    );
    server.on('tlsClientError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return raw;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  url(path = '/', host = '127.0.0.1'): string {
    return `${this.scheme}://${host}:${this.port}${path}`;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    if (!this.server.listening) return;
    this.server.close();
    await once(this.server, 'close');
  }

  private serve(socket: Socket, { onRequest, onConnection }: RawServerOptions): void {
    socket.on('error', (error: NodeJS.ErrnoException) => this.errors.push(error.code));
    onConnection?.(socket);
    let pending = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      this.bytesReceived += chunk.byteLength;
      pending = Buffer.concat([pending, chunk]);
      for (;;) {
        const headEnd = pending.indexOf('\r\n\r\n');
        if (headEnd === -1) return;
        const head = pending.subarray(0, headEnd).toString('latin1');
        const bodyStart = headEnd + 4;
        const bodyEnd = bodyStart + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
        if (pending.byteLength < bodyEnd) return;
        const request = {
          head,
          body: Buffer.from(pending.subarray(bodyStart, bodyEnd)),
          socket,
          index: this.requests.length,
        };
        pending = pending.subarray(bodyEnd);
        this.requests.push(request);
        onRequest?.(request);
      }
    });
  }
}

/** A response with a length, on a connection that stays open. */
export function response(status: number, body: string | Buffer = '', headers: readonly string[] = []): Buffer {
  const content = Buffer.from(body);
  const head = [`HTTP/1.1 ${status} Any`, `content-length: ${content.byteLength}`, ...headers, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), content]);
}
