/** What is known of the connection that a request came on. */
export interface Arrival {
  readonly remoteAddress?: string | undefined;
  /** True on a TLS socket. */
  readonly encrypted?: boolean | undefined;
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|::ffff:127(?:\.\d{1,3}){3})$/;

/**
 * Whether nobody on a network could read the request: it came over TLS, or from this machine. Headers that a proxy adds say nothing
 * here, since anybody may send them.
 */
export const arrivedPrivately = ({ remoteAddress, encrypted }: Arrival): boolean =>
  encrypted === true || LOOPBACK.test(remoteAddress ?? '');
