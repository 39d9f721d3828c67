import { Agent, request, type IncomingHttpHeaders } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

export interface Exchange {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: ReturnType<typeof JSON.parse>;
}

/** A question that got no answer. */
export interface Loss {
  /** What the socket said; `ECONNREFUSED` when there was no connection, so nothing was sent. */
  readonly code: string;
  readonly path: string;
  /** Milliseconds since the clients were told to note the time; negative before that. */
  readonly atMs: number;
}

/**
 * Clients that keep their connections, one each, and use them again as long as the server lets them: what a pool of a
 * harness does. Each asks until it is refused or loses a question.
 */
export class KeepAliveLoad {
  readonly answers: Exchange[] = [];
  readonly refusals: Exchange[] = [];
  readonly losses: Loss[] = [];
  private readonly agents: Agent[] = [];
  private readonly clients: Promise<void>[] = [];
  private noted = performance.now();

  constructor(
    private readonly url: string,
    private readonly token: string,
  ) {}

  /** Adds a client that asks `next()` again and again; `idleMs` is how long it thinks between two questions. */
  add(next: () => { method?: string; path: string; body?: object; headers?: object }, idleMs = () => 0): void {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    this.agents.push(agent);
    this.clients.push(this.ask(agent, next, idleMs));
  }

  /** Times of losses count from here. */
  note(): void {
    this.noted = performance.now();
  }

  /** Answers when every client has been refused or has lost a question. */
  async over(): Promise<void> {
    await Promise.all(this.clients);
    for (const agent of this.agents) agent.destroy();
  }

  private async ask(agent: Agent, next: Parameters<KeepAliveLoad['add']>[0], idleMs: () => number): Promise<void> {
    for (;;) {
      const question = next();
      try {
        const answer = await this.exchange(agent, question);
        if (answer.status >= 500) {
          this.refusals.push(answer);
          return;
        }
        this.answers.push(answer);
      } catch (error) {
        const { code = 'none' } = error as NodeJS.ErrnoException;
        this.losses.push({ code, path: question.path, atMs: Math.round(performance.now() - this.noted) });
        return;
      }
      const idle = idleMs();
      if (idle > 0) await pause(idle);
    }
  }

  private exchange(
    agent: Agent,
    { method = 'GET', path, body, headers }: ReturnType<Parameters<KeepAliveLoad['add']>[0]>,
  ): Promise<Exchange> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const asking = request(`${this.url}${path}`, {
        agent,
        method,
        headers: {
          authorization: `Bearer ${this.token}`,
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      });
      asking.once('error', reject);
      asking.once('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          const answer = Buffer.concat(chunks).toString('utf8');
          resolve({ status: response.statusCode ?? 0, headers: response.headers, body: JSON.parse(answer) });
        });
      });
      asking.end(text);
    });
  }
}
