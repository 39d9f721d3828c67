import { promises as dns } from 'node:dns';
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';
import { after } from '../system/timers.js';
import { isAddressAllowed } from './address-policy.js';
import { EgressFailure } from './egress-failure.js';

/** Every address a name has. Rejects when it has none that can be found. */
export type Resolver = (hostname: string) => Promise<readonly string[]>;

export interface ConnectorOptions {
  readonly allowAddresses: readonly string[];
  readonly resolve: Resolver;
  readonly connectTimeoutMs: number;
  /** Certificate authorities in PEM that are trusted instead of the system's. */
  readonly ca?: string;
}

export interface OpenedSocket {
  /** What HTTP is spoken over. */
  readonly socket: Socket;
  /** The TCP connection underneath; the same object without TLS. */
  readonly tcp: Socket;
  readonly connectedAddress: string;
}

export interface ConnectionObserver {
  /** A TCP connection is being attempted; destroying it ends the attempt. */
  onAttempt(tcp: Socket): void;
  onOpened(opened: OpenedSocket): void;
}

/** The system resolver, so that `/etc/hosts` counts. */
export async function resolveWithSystem(hostname: string): Promise<readonly string[]> {
  const found = await dns.lookup(hostname, { all: true });
  return found.map(({ address }) => address);
}

/**
 * A connector for undici that resolves a name once, checks every address it got, and connects to one of exactly these: between check
 * and connection nobody asks the resolver again (no rebinding). One refused address refuses the name, because a name that mixes
 * public and inner addresses is either an attack or a mistake. Fails with `EgressFailure` only, never with an error of undici's own
 * that would make it try again by itself.
 */
export function createCheckedConnector(
  options: ConnectorOptions,
  observer: ConnectionObserver,
): buildConnector.connector {
  return ({ hostname, protocol, port, servername }, callback) => {
    const isSecure = protocol === 'https:';
    if (isIP(hostname) !== 0 && !isAddressAllowed(hostname, options.allowAddresses)) {
      queueMicrotask(() => callback(new EgressFailure('address_refused'), null));
      return;
    }
    const tcp = connectTcp({
      host: hostname,
      port: port === '' ? (isSecure ? 443 : 80) : Number(port),
      lookup: checkedLookup(options),
      noDelay: true,
      keepAlive: true,
    });
    observer.onAttempt(tcp);
    const finish = once(tcp, options.connectTimeoutMs, observer, callback);
    tcp.once('error', (error) => finish.fail(error instanceof EgressFailure ? error.reason : 'connect_failed'));
    tcp.once('connect', () => {
      const connectedAddress = tcp.remoteAddress ?? '';
      if (!isAddressAllowed(connectedAddress, options.allowAddresses)) finish.fail('address_refused');
      else if (isSecure) secure(tcp, { hostname, servername: servername ?? '', connectedAddress }, options, finish);
      else finish.open({ socket: tcp, tcp, connectedAddress });
    });
  };
}

interface Finish {
  fail(reason: EgressFailure['reason']): void;
  open(opened: OpenedSocket): void;
  /** From here on running out of time is a failure of TLS. */
  enterTls(): void;
}

function once(tcp: Socket, timeoutMs: number, observer: ConnectionObserver, callback: buildConnector.Callback): Finish {
  let isFinished = false;
  let reasonOnTimeout: EgressFailure['reason'] = 'connect_failed';
  const timer = after(timeoutMs, () => fail(reasonOnTimeout));
  // An attempt that is destroyed from outside reports no error, only its end.
  tcp.once('close', () => fail(reasonOnTimeout));
  return {
    fail,
    open(opened) {
      if (!begin()) return;
      observer.onOpened(opened);
      callback(null, opened.socket);
    },
    enterTls() {
      reasonOnTimeout = 'tls_failed';
    },
  };

  function fail(reason: EgressFailure['reason']): void {
    if (!begin()) return;
    // Errors that arrive after the verdict have nobody left to tell.
    tcp.on('error', ignore);
    tcp.destroy();
    callback(new EgressFailure(reason), null);
  }

  function begin(): boolean {
    if (isFinished) return false;
    isFinished = true;
    timer.cancel();
    return true;
  }
}

interface TlsPeer {
  readonly hostname: string;
  readonly servername: string;
  readonly connectedAddress: string;
}

/** `rejectUnauthorized` is spelled out, because the environment can turn the default off. */
function secure(tcp: Socket, peer: TlsPeer, { ca }: ConnectorOptions, finish: Finish): void {
  finish.enterTls();
  const servername = peer.servername !== '' || isIP(peer.hostname) !== 0 ? peer.servername : peer.hostname;
  const socket = connectTls({
    socket: tcp,
    host: peer.hostname,
    ...(servername === '' ? {} : { servername }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    rejectUnauthorized: true,
    ...(ca === undefined ? {} : { ca }),
  });
  socket.once('error', () => finish.fail('tls_failed'));
  socket.once('secureConnect', () => finish.open({ socket, tcp, connectedAddress: peer.connectedAddress }));
}

type LookupCallback = Parameters<LookupFunction>[2];

function checkedLookup(options: ConnectorOptions): LookupFunction {
  return (hostname, { all }, callback) => void lookUp(hostname, options, all === true, callback);
}

async function lookUp(
  hostname: string,
  options: ConnectorOptions,
  all: boolean,
  callback: LookupCallback,
): Promise<void> {
  const outcome = await resolveChecked(hostname, options);
  if (outcome instanceof EgressFailure) callback(outcome, '', 0);
  else if (all) callback(null, outcome);
  else callback(null, outcome[0].address, outcome[0].family);
}

interface ResolvedAddress {
  readonly address: string;
  readonly family: number;
}

async function resolveChecked(
  hostname: string,
  { resolve, allowAddresses }: ConnectorOptions,
): Promise<[ResolvedAddress, ...ResolvedAddress[]] | EgressFailure> {
  const addresses = await resolve(hostname).catch(() => []);
  if (!addresses.every((address) => isAddressAllowed(address, allowAddresses))) {
    return new EgressFailure('address_refused');
  }
  const [first, ...others] = addresses.map((address) => ({ address, family: isIP(address) }));
  return first === undefined ? new EgressFailure('resolve_failed') : [first, ...others];
}

function ignore(): void {
  // Deliberately empty: an 'error' event without a listener would end the process.
}
