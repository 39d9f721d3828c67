import { describe, expect, it } from '@jest/globals';
import { FetchUnanswered, fetchThrough } from './fetch-through.js';
import type { NoResponseResult, OutboundRequest, OutboundResult, ResponseResult } from './outbound-request.js';

const evidence = { bytesWritten: true, headersFlushed: true, startedAtMs: 0, endedAtMs: 0 };
const RULES = { allowAddresses: ['loopback'], timeoutMs: 1000, responseBytesMax: 100 };

function through(answer: Partial<ResponseResult> | Pick<NoResponseResult, 'cause'>) {
  const sent: OutboundRequest[] = [];
  const whole = { kind: 'response', status: 200, headers: {}, body: Buffer.from('{}'), bodyTruncated: false, evidence };
  const result = 'cause' in answer ? { kind: 'no_response', evidence, ...answer } : { ...whole, ...answer };
  const send = async (request: OutboundRequest): Promise<OutboundResult> => {
    sent.push(request);
    return result as OutboundResult;
  };
  return { sent, fetch: fetchThrough({ send }, RULES) };
}

describe('the door out as fetch', () => {
  it('sends what it is given under the rules, and the authorization where credentials go', async () => {
    const { sent, fetch } = through({});
    const headers = new Headers({ Authorization: 'Basic x', Accept: 'application/json' });
    await fetch('https://a.example/token', { method: 'POST', headers, body: new URLSearchParams({ a: 'b c' }) });
    expect(sent).toMatchObject([
      {
        method: 'POST',
        url: 'https://a.example/token',
        headers: { accept: 'application/json' },
        credentialHeaders: { authorization: 'Basic x' },
        allowAddresses: ['loopback'],
        responseBytesMax: 100,
      },
    ]);
    expect(Buffer.from(sent[0]?.body ?? []).toString()).toBe('a=b+c');
  });

  it('answers as fetch does, redirects included, which it does not follow', async () => {
    const headers = { location: 'http://169.254.169.254/', 'content-type': 'text/plain' };
    const { sent, fetch } = through({ status: 302, headers, body: Buffer.from('moved') });
    const response = await fetch('https://a.example/', { method: 'GET', headers: {} });
    expect([response.status, await response.text(), sent.length]).toEqual([302, 'moved', 1]);
  });

  it.each([
    ['no answer', { cause: 'timeout' } as const, 'timeout'],
    ['an address that is refused', { cause: 'address_refused' } as const, 'address_refused'],
    ['an answer beyond the limit', { bodyTruncated: true }, 'too_long'],
  ])('rejects %s by its cause alone', async (_, answer, reason) => {
    const failure = through(answer).fetch('https://a.example/?key=secret', { method: 'GET', headers: {} });
    await expect(failure).rejects.toBeInstanceOf(FetchUnanswered);
    await expect(failure).rejects.toMatchObject({ reason, message: reason });
  });

  it('takes no body that it cannot send whole', async () => {
    const { sent, fetch } = through({});
    await expect(
      fetch('https://a.example/', { method: 'POST', headers: {}, body: new ReadableStream() }),
    ).rejects.toMatchObject({
      reason: 'body_unsupported',
    });
    expect(sent).toEqual([]);
  });
});
