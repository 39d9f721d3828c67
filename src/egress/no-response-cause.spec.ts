import { describe, expect, it } from '@jest/globals';
import { errors } from 'undici';
import { EgressFailure } from './egress-failure.js';
import { causeOf } from './no-response-cause.js';

const WRITTEN = { isWritten: true, hasResponse: false };
const RESPONDING = { isWritten: true, hasResponse: true };
const UNWRITTEN = { isWritten: false, hasResponse: false };

function withCode(code: string): Error {
  return Object.assign(new Error('detail that must not matter'), { code });
}

describe('causeOf', () => {
  it('passes on what our own side said', () => {
    expect(causeOf(new EgressFailure('tls_failed'), UNWRITTEN)).toBe('tls_failed');
  });

  it('calls a lost connection a reset before the response and an incomplete body within it', () => {
    for (const error of [withCode('ECONNRESET'), withCode('EPIPE'), new errors.SocketError('other side closed')]) {
      expect(causeOf(error, WRITTEN)).toBe('reset');
      expect(causeOf(error, RESPONDING)).toBe('body_incomplete');
    }
  });

  it('calls bytes that are no HTTP bad framing', () => {
    expect(
      causeOf(new errors.HTTPParserError('Response does not match the HTTP/1.1 protocol (Expected HTTP/)'), WRITTEN),
    ).toBe('bad_framing');
    expect(
      causeOf(
        new errors.HTTPParserError('Response does not match the HTTP/1.1 protocol (Invalid character in chunk size)'),
        RESPONDING,
      ),
    ).toBe('bad_framing');
    expect(causeOf(new errors.HeadersOverflowError(), WRITTEN)).toBe('bad_framing');
    expect(causeOf(new errors.SocketError('bad response'), WRITTEN)).toBe('bad_framing');
    expect(causeOf(new errors.SocketError('bad upgrade'), WRITTEN)).toBe('bad_framing');
  });

  it('calls an end before the announced length an incomplete body', () => {
    expect(causeOf(new errors.ResponseContentLengthMismatchError(), RESPONDING)).toBe('body_incomplete');
    expect(
      causeOf(
        new errors.HTTPParserError('Response does not match the HTTP/1.1 protocol (Invalid EOF state)'),
        RESPONDING,
      ),
    ).toBe('body_incomplete');
  });

  it('calls refused arguments an invalid request', () => {
    expect(causeOf(new errors.InvalidArgumentError('x'), UNWRITTEN)).toBe('request_invalid');
  });

  it('has a word for errors nobody foresaw', () => {
    expect(causeOf(new Error('?'), UNWRITTEN)).toBe('connect_failed');
    expect(causeOf(new Error('?'), WRITTEN)).toBe('reset');
    expect(causeOf(withCode('ETIMEDOUT'), WRITTEN)).toBe('timeout');
    expect(causeOf(new errors.ClientDestroyedError(), WRITTEN)).toBe('aborted');
  });
});

describe('EgressFailure', () => {
  it('says its reason and nothing else', () => {
    expect(new EgressFailure('reset').message).toBe('reset');
  });
});
