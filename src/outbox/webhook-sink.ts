import type { WebhookSettings } from '../config/settings.js';
import type { HttpClient } from '../egress/http-client.js';
import type { WebhookSigner } from '../secrets/webhook-signer.js';
import type { Clock } from '../system/clock.js';
import { reached } from '../system/crash-points.js';
import { outcomeOf } from './delivery-outcome.js';
import { sendInChains } from './partition-chains.js';
import type { Delivered, Delivery, Outcome, Sink } from './sink.js';

/** Nothing of an answer but its status is used. */
const ANSWER_BYTES_MAX = 4096;

const BATCH_MAX = 64;

/** CloudEvents over HTTP in structured mode, signed as Standard Webhooks 1.0 says; delivered when the answer is a 2xx. */
export class WebhookSink implements Sink {
  readonly batchMax = BATCH_MAX;
  readonly lingerMs = 0;

  constructor(
    private readonly settings: WebhookSettings,
    private readonly client: Pick<HttpClient, 'send'>,
    private readonly signer: WebhookSigner,
    private readonly clock: Clock,
  ) {}

  deliver(batch: readonly Delivery[], stopping: AbortSignal): Promise<readonly Delivered[]> {
    const { concurrency } = this.settings;
    return sendInChains(batch, { concurrency, stopping, send: (delivery) => this.send(delivery) });
  }

  async close(): Promise<void> {}

  private async send({ eventId, body }: Delivery): Promise<Outcome> {
    const { url, allowAddresses, timeoutMs } = this.settings;
    // Of this attempt: receivers refuse a signature that is older than their tolerance.
    const timestamp = Math.floor(this.clock.now() / 1000);
    const deadline = this.clock.monotonic() + timeoutMs;
    const result = await this.client.send({
      method: 'POST',
      url,
      headers: {
        'content-type': 'application/cloudevents+json; charset=utf-8',
        'user-agent': 'countersign',
        'webhook-id': eventId,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': this.signer.sign(eventId, timestamp, body),
      },
      body: Buffer.from(body, 'utf8'),
      allowAddresses,
      sendBeforeMonotonicMs: deadline,
      deadlineMonotonicMs: deadline,
      responseBytesMax: ANSWER_BYTES_MAX,
    });
    const outcome = outcomeOf(result, this.clock.now());
    if (outcome.kind === 'delivered') reached('outbox.webhook-taken', eventId);
    return outcome;
  }
}
