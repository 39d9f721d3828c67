import type { startProvider } from '../../examples/refunds/stack.mjs';

type Running = Awaited<ReturnType<typeof startProvider>>;

export interface ProviderStats {
  readonly executions: number;
  readonly executionsByKey: Readonly<Record<string, number>>;
  readonly requests: number;
  readonly requestsByKey: Readonly<Record<string, number>>;
  readonly lookups: number;
  readonly redirectsFollowed: number;
}

export interface ProviderRequest {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The example's payment provider, as the oracle: what it counts is what really happened. */
export class RefundProvider {
  constructor(
    private readonly running: Running,
    private readonly apiKey: string,
  ) {}

  /** An order that nothing has been paid back of. */
  async order(amountMinor = 10_000_000): Promise<string> {
    const { orderId } = await this.ask<{ orderId: string }>('POST', '/v1/orders', { amountMinor });
    return orderId;
  }

  stats(): Promise<ProviderStats> {
    return this.ask('GET', '/_control/stats');
  }

  /** How often money was moved for an order. Asked without a lookup, so that faults of lookups stay for the proxy. */
  async executionsOf(orderId: string): Promise<number> {
    const keys = new Set((await this.requestsOf(orderId)).map(({ headers }) => headers['idempotency-key'] ?? ''));
    const { executionsByKey } = await this.stats();
    return [...keys].reduce((sum, key) => sum + (executionsByKey[key] ?? 0), 0);
  }

  /** The refund requests of an order as they arrived, newest first. */
  async requestsOf(orderId: string): Promise<readonly ProviderRequest[]> {
    const { data } = await this.ask<{ data: readonly ProviderRequest[] }>('GET', '/_control/requests?limit=1000');
    return data.filter(({ body }) => body.includes(JSON.stringify(orderId)));
  }

  async inject(faults: object): Promise<void> {
    await this.ask('POST', '/_control/faults', faults);
  }

  async heal(): Promise<void> {
    await this.ask('DELETE', '/_control/faults');
  }

  /** Where callbacks go from now on; `{idempotencyKey}` is filled in. */
  async callBackTo(url: string, secret: string): Promise<void> {
    await this.ask('PUT', '/_control/callback', { url, secret });
  }

  stop(): Promise<number | null> {
    return this.running.kill('SIGKILL');
  }

  private async ask<T = unknown>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${this.running.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${this.apiKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }
}
