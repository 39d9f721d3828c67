import type { NoResponseCause } from './outbound-request.js';

/** A failure on our own side of a connection. The message is the cause alone: no URL, header, body or address gets into it. */
export class EgressFailure extends Error {
  override readonly name = 'EgressFailure';

  constructor(readonly reason: NoResponseCause) {
    super(reason);
  }
}
