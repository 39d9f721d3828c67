import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { Client, type Dispatcher } from 'undici';
import { createCheckedConnector, type ConnectorOptions } from './checked-connector.js';
import { EgressFailure } from './egress-failure.js';

export interface ConnectionOptions extends ConnectorOptions {
  readonly origin: string;
  /** How long an idle connection is kept when the peer does not say. */
  readonly keepAliveMs: number;
  readonly responseHeaderBytesMax: number;
  /** The connection ended while nothing was asked of it, or because of what was. */
  readonly onDisconnected: (connection: Connection) => void;
}

/** Peers promise whole seconds and mean less; a connection is given up this long before the promised moment. */
const KEEP_ALIVE_MARGIN_MS = 1_000;

/**
 * One undici client, which has at most one socket at a time and carries one request at a time. undici opens the socket when a request
 * needs one, so an idle connection that has died costs a new connection and never a second write.
 */
export class Connection {
  connectedAddress: string | undefined;
  /** The socket reported an error, so what was read until then may have been cut off. */
  hasSocketError = false;

  private readonly client: Client;
  private tcp: Socket | null = null;
  private socket: Socket | null = null;
  private isKilled = false;

  constructor(options: ConnectionOptions) {
    this.client = new Client(options.origin, {
      connect: createCheckedConnector(options, {
        onAttempt: (tcp) => {
          this.tcp = tcp;
        },
        onOpened: ({ socket, tcp, connectedAddress }) => this.adopt(socket, tcp, connectedAddress),
      }),
      pipelining: 1,
      // Our own deadlines are absolute; undici's would start anew with every byte.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: options.keepAliveMs,
      keepAliveMaxTimeout: options.keepAliveMs,
      keepAliveTimeoutThreshold: KEEP_ALIVE_MARGIN_MS,
      maxHeaderSize: options.responseHeaderBytesMax,
      allowH2: false,
    });
    this.client.on('disconnect', () => options.onDisconnected(this));
    // undici emits an 'error', which its types leave out, when a handler throws; unheard it would end the process.
    const events: EventEmitter = this.client;
    events.on('error', () => this.kill());
  }

  /** True when the next request can be written without connecting anew. */
  get isOpen(): boolean {
    return !this.isKilled && this.socket !== null && !this.socket.destroyed;
  }

  /** True when everything given to the socket so far has been handed to the kernel. */
  get isFlushed(): boolean {
    return this.socket !== null && this.socket.writableLength === 0 && this.socket.errored === null;
  }

  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.client.dispatch(options, handler);
  }

  /**
   * Ends the connection at once. An open TCP connection is reset rather than closed: closing would let the kernel go on delivering
   * what the peer has not accepted yet.
   */
  kill(): void {
    if (this.isKilled) return;
    this.isKilled = true;
    if (this.tcp !== null && !this.tcp.destroyed && !this.tcp.connecting) this.tcp.resetAndDestroy();
    else this.tcp?.destroy();
    void this.client.destroy(new EgressFailure('aborted'));
  }

  private adopt(socket: Socket, tcp: Socket, connectedAddress: string): void {
    this.socket = socket;
    this.tcp = tcp;
    this.connectedAddress = connectedAddress;
    this.hasSocketError = false;
    // Registered before undici's own listener, which may complete a response while the error is being reported.
    socket.on('error', () => {
      this.hasSocketError = true;
    });
  }
}
