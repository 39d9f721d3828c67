import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { createInterface, type Interface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./openid-process.mjs', import.meta.url));

export const CLIENT_SECRET = 'canary-client-secret-2Xc';
export const SUBJECT_TOKEN = 'canary-subject-token-9Kd';

/** A real OpenID provider in a process of its own. */
export class AuthorizationServer {
  private readonly lines: AsyncIterator<string>;

  private constructor(
    private readonly child: ChildProcessByStdio<Writable, Readable, null>,
    reader: Interface,
    public issuer = '',
  ) {
    this.lines = reader[Symbol.asyncIterator]();
  }

  static async start(): Promise<AuthorizationServer> {
    const env = { PATH: process.env['PATH'] ?? '', NODE_NO_WARNINGS: '1' };
    const child = spawn(process.execPath, [PROGRAM], { env, stdio: ['pipe', 'pipe', 'inherit'] });
    const server = new AuthorizationServer(child, createInterface({ input: child.stdout }));
    server.issuer = (await server.line())['issuer'] as string;
    return server;
  }

  /** New keys, and none of the old ones. */
  rotate(): Promise<unknown> {
    return this.tell('rotate');
  }

  /** `hang` takes requests and never answers, `fail` answers 500, `serve` is as it should be. */
  be(mode: 'hang' | 'fail' | 'serve'): Promise<unknown> {
    return this.tell(mode);
  }

  /** What has been asked since the last time, such as `GET /jwks`. */
  async requests(): Promise<readonly string[]> {
    return (await this.tell('requests'))['requests'] as readonly string[];
  }

  /** An access token of a person, signed by the provider. */
  async personToken(sub: string, claims: object): Promise<string> {
    const answer = await this.ask('/token', {
      grant_type: 'urn:test:person',
      sub,
      claims_json: JSON.stringify(claims),
    });
    return answer['access_token'] as string;
  }

  /** Whether a token is good at its server (RFC 7662). */
  async isActive(token: string): Promise<boolean> {
    return (await this.ask('/token/introspection', { token }))['active'] as boolean;
  }

  async stop(): Promise<void> {
    if (this.child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }

  private async ask(path: string, parameters: Readonly<Record<string, string>>): Promise<Record<string, unknown>> {
    const authorization = `Basic ${Buffer.from(`countersign:${CLIENT_SECRET}`).toString('base64')}`;
    const body = new URLSearchParams(parameters);
    const response = await fetch(`${this.issuer}${path}`, { method: 'POST', headers: { authorization }, body });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`the provider answered ${response.status}: ${text}`);
    return JSON.parse(text) as Record<string, unknown>;
  }

  private async tell(command: string): Promise<Record<string, unknown>> {
    this.child.stdin.write(`${JSON.stringify({ command })}\n`);
    return this.line();
  }

  /** Its next line that is JSON: it also warns people who would use it as it is. */
  private async line(): Promise<Record<string, unknown>> {
    for (;;) {
      const { value, done } = await this.lines.next();
      if (done === true) throw new Error('the provider has ended');
      if (value.startsWith('{')) return JSON.parse(value) as Record<string, unknown>;
    }
  }
}
