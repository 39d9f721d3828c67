import type { ChatSettings } from '../config/settings.js';
import type { HttpClient } from '../egress/http-client.js';
import type { Clock } from '../system/clock.js';
import { outcomeOf } from './delivery-outcome.js';
import { noticeText, type NoticedEvent } from './notice-text.js';
import { sendInChains } from './partition-chains.js';
import type { Delivered, Delivery, Outcome, Sink } from './sink.js';

/** Nothing of an answer but its status is used. */
const ANSWER_BYTES_MAX = 4096;

const BATCH_MAX = 16;

/** Chat services take about one message a second from one address. */
const CONCURRENCY = 1;

/** Tells people in a chat by an incoming webhook as Slack has them: `{text}` as JSON. The address is the only secret. */
export class ChatSink implements Sink {
  readonly batchMax = BATCH_MAX;
  readonly lingerMs = 0;
  readonly #url: string;

  constructor(
    private readonly settings: ChatSettings,
    url: string,
    private readonly client: Pick<HttpClient, 'send'>,
    private readonly clock: Clock,
  ) {
    this.#url = url;
  }

  deliver(batch: readonly Delivery[], stopping: AbortSignal): Promise<readonly Delivered[]> {
    return sendInChains(batch, { concurrency: CONCURRENCY, stopping, send: (delivery) => this.send(delivery) });
  }

  async close(): Promise<void> {}

  private async send({ body }: Delivery): Promise<Outcome> {
    const { allowAddresses, timeoutMs } = this.settings;
    const deadline = this.clock.monotonic() + timeoutMs;
    const text = noticeText(JSON.parse(body) as NoticedEvent);
    const result = await this.client.send({
      method: 'POST',
      url: this.#url,
      headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'countersign' },
      // A preview of our own page would be fetched by the chat service, for every reader to see.
      body: Buffer.from(JSON.stringify({ text, unfurl_links: false, unfurl_media: false }), 'utf8'),
      allowAddresses,
      sendBeforeMonotonicMs: deadline,
      deadlineMonotonicMs: deadline,
      responseBytesMax: ANSWER_BYTES_MAX,
    });
    return outcomeOf(result, this.clock.now());
  }
}
