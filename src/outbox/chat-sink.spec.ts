import { inspect } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/builders/manual-clock.js';
import type { ChatSettings } from '../config/settings.js';
import { sinkSchema } from '../config/sink.schema.js';
import type { OutboundRequest, OutboundResult } from '../egress/outbound-request.js';
import { ChatSink } from './chat-sink.js';
import type { Delivery } from './sink.js';

const ADDRESS = 'https://chat.example/services/T0/B0/s3cr3t';
const settings = sinkSchema.parse({ kind: 'chat', url: 'env:CHAT', timeoutMs: 500 }) as ChatSettings;

const body = JSON.stringify({
  type: 'manual.handoff_opened',
  subject: 'call/tcl_1',
  link: 'https://c.example/v1/tool-calls/tcl_1',
  data: { payload: {} },
});
const delivery: Delivery = { position: 1, eventId: 'evt_1', partition: 'call/tcl_1', recordedAt: '', body };

function chat(status: number, headers: Record<string, string> = {}): { sink: ChatSink; sent: OutboundRequest[] } {
  const sent: OutboundRequest[] = [];
  const evidence = { bytesWritten: true, headersFlushed: true, startedAtMs: 0, endedAtMs: 0 };
  const send = (request: OutboundRequest): Promise<OutboundResult> => {
    sent.push(request);
    return Promise.resolve({
      kind: 'response',
      status,
      headers,
      body: new Uint8Array(),
      bodyTruncated: false,
      evidence,
    });
  };
  return { sink: new ChatSink(settings, ADDRESS, { send }, new ManualClock('2031-01-01T10:00:00.000Z')), sent };
}

const outcomeWith = async (status: number, headers?: Record<string, string>): Promise<unknown> =>
  (await chat(status, headers).sink.deliver([delivery], new AbortController().signal))[0]?.outcome;

describe('a chat', () => {
  it('is told one text by POST, without previews of our pages', async () => {
    const { sink, sent } = chat(200);
    await sink.deliver([delivery], new AbortController().signal);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ method: 'POST', url: ADDRESS });
    const told: unknown = JSON.parse(Buffer.from(sent[0]?.body ?? []).toString('utf8'));
    expect(told).toEqual({
      text: expect.stringContaining('<https://c.example/v1/tool-calls/tcl_1|Open>'),
      unfurl_links: false,
      unfurl_media: false,
    });
  });

  it('has taken what it answers with 2xx, and is asked again later otherwise', async () => {
    expect(await outcomeWith(200)).toEqual({ kind: 'delivered' });
    expect(await outcomeWith(429, { 'retry-after': '7' })).toMatchObject({ kind: 'unavailable', retryAfterMs: 7000 });
    expect(await outcomeWith(400)).toMatchObject({ kind: 'refused', reason: 'http_400' });
    expect(await outcomeWith(410)).toMatchObject({ kind: 'gone' });
  });

  it('never shows its address', () => {
    const { sink } = chat(200);
    expect(`${inspect(sink, { depth: 9 })} ${JSON.stringify(sink)}`).not.toContain('s3cr3t');
  });
});
