import { EgressFailure } from './egress-failure.js';
import type { NoResponseCause } from './outbound-request.js';

/** How far one exchange had come when it failed. */
export interface Progress {
  readonly isWritten: boolean;
  /** A final status line and its headers were read. */
  readonly hasResponse: boolean;
}

/** Other names of undici for an answer that is not HTTP/1.1. */
const BAD_FRAMING = /^UND_ERR_(?:HEADERS_OVERFLOW|RES_CONTENT_LENGTH_MISMATCH)$/;

/** llhttp's word for an end of the connection inside a message; undici passes it on in the message alone. */
const END_INSIDE_MESSAGE = /Invalid EOF state/;

const ARGUMENT_REFUSED = /^UND_ERR_(?:INVALID_ARG|NOT_SUPPORTED|REQ_CONTENT_LENGTH_MISMATCH)$/;

/** undici gives one code to every end of a connection; only these messages mean that the peer said something it must not say. */
const PROTOCOL_BREACH = /^bad (?:response|upgrade)$/;

/**
 * One word for why an exchange brought no response. It is for people and evidence: whether the call may have had an effect follows from
 * `bytesWritten` alone, so an error that nobody foresaw gets an ordinary word and changes nothing.
 */
export function causeOf(error: Error, progress: Progress): NoResponseCause {
  if (error instanceof EgressFailure) return error.reason;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (ARGUMENT_REFUSED.test(code)) return 'request_invalid';
  if (/^UND_ERR_(?:ABORTED|DESTROYED|CLOSED)$/.test(code)) return 'aborted';
  if (!progress.isWritten) return 'connect_failed';
  if (code === 'ETIMEDOUT') return 'timeout';
  const isCutShort = END_INSIDE_MESSAGE.test(error.message) || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH';
  if (progress.hasResponse && isCutShort) return 'body_incomplete';
  const isBadFraming =
    error.name === 'HTTPParserError' || BAD_FRAMING.test(code) || PROTOCOL_BREACH.test(error.message);
  if (isBadFraming) return 'bad_framing';
  return progress.hasResponse ? 'body_incomplete' : 'reset';
}
