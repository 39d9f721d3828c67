import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PEOPLE, signingKeys, startProvider, startProxy } from '../../examples/refunds/stack.mjs';
import type { Files } from './demo-capabilities.js';
import { FakeTool } from './fake-tool.js';
import { Client } from './http-client.js';
import { QUICK_WASM } from './quick-wasm.js';
import { RefundProvider } from './refund-provider.js';

type Person = (typeof PEOPLE)['harness'];
type Running = Awaited<ReturnType<typeof startProxy>>;

/** The cast of the example and who else a test needs. `sam` is the person the agent acts for. */
export const CAST = {
  ...PEOPLE,
  sam: { sub: 'sam', roles: ['approver'], groups: ['support-lead'] },
  otherHarness: { sub: 'tina', act: { sub: 'support-agent' }, roles: ['harness'] },
  stranger: { sub: 'rita', roles: ['approver'], groups: ['finance'] },
  elsewhereHarness: { sub: 'sam', act: { sub: 'support-agent' }, roles: ['harness'], tenant: 'umbrella' },
  elsewhereLead: { sub: 'lena', roles: ['approver'], groups: ['support-lead'], tenant: 'umbrella' },
  elsewhereOperator: { sub: 'otto', roles: ['operator'], tenant: 'umbrella' },
} as const satisfies Record<string, Person>;

export interface StackOptions {
  /** Capability manifests in addition to those of the example. */
  readonly capabilities?: Files;
  /** Policies in addition to those of the example. */
  readonly policies?: Files;
  /** Settings as environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  readonly apiKey?: string;
  /** Done with the environment of the proxy before it starts, such as storing secrets. */
  readonly beforeStart?: (environment: Readonly<Record<string, string>>) => Promise<void>;
}

const EXAMPLE = fileURLToPath(new URL('../../examples/refunds/', import.meta.url));

/** Overdue things are noticed soon, so that tests need not wait five seconds for them; a busy machine is no finding. */
const QUICK: Readonly<Record<string, string>> = {
  COUNTERSIGN_EXECUTION__SWEEP_INTERVAL_MS: '300',
  COUNTERSIGN_READINESS__STALL_MS_MAX: '600000',
};

/** The product as an operator runs it, with the refund provider and a scripted tool, all below one temporary folder. */
export class Stack {
  /** Every answer any client got. */
  readonly transcript: string[] = [];
  private readonly outputs: string[] = [];

  private constructor(
    readonly dir: string,
    private readonly keys: Awaited<ReturnType<typeof signingKeys>>,
    private env: Readonly<Record<string, string>>,
    readonly provider: RefundProvider,
    readonly tool: FakeTool,
    public proxy: Running,
  ) {}

  static async start(options: StackOptions = {}): Promise<Stack> {
    const dir = mkdtempSync(join(tmpdir(), 'countersign-e2e-'));
    const started: (() => Promise<unknown>)[] = [async () => rmSync(dir, { recursive: true, force: true })];
    try {
      prepareFolders(dir, options);
      const apiKey = options.apiKey ?? 'e2e-provider-key-1f2e3d4c';
      const keys = await signingKeys(join(dir, 'signing'));
      const running = await startProvider({ db: join(dir, 'provider.sqlite'), apiKey });
      started.unshift(() => running.kill('SIGKILL'));
      const tool = await FakeTool.start();
      started.unshift(() => tool.stop());
      const env = environment(dir, keys.jwksFile, { payments: running.url, tool: tool.url }, apiKey, options);
      await options.beforeStart?.({ COUNTERSIGN_CONFIG: join(EXAMPLE, 'countersign.yaml'), ...env });
      const proxy = await startProxy({ env, nodeArgs: QUICK_WASM });
      const stack = new Stack(dir, keys, env, new RefundProvider(running, apiKey), tool, proxy);
      await stack.warmUp();
      return stack;
    } catch (error) {
      for (const undo of started) await undo();
      throw error;
    }
  }

  /** The first call of a process is slow, and some deadlines of tests are short. In a tenant that no test uses. */
  private async warmUp(): Promise<void> {
    const client = await this.as({ sub: 'early', act: { sub: 'bird' }, roles: ['harness'], tenant: 'warm-up' });
    await client.propose('order.read', { orderId: 'ord_1001' });
  }

  get dataDir(): string {
    return join(this.dir, 'data');
  }

  /** What the proxy is started with. */
  get environment(): Readonly<Record<string, string>> {
    return { COUNTERSIGN_CONFIG: join(EXAMPLE, 'countersign.yaml'), ...this.env };
  }

  get signingDir(): string {
    return join(this.dir, 'signing');
  }

  /** Everything the proxy has printed, over all its lives. */
  get output(): string {
    return [...this.outputs, this.proxy.output()].join('');
  }

  token(person: Person, seconds?: number): Promise<string> {
    return this.keys.token(person, seconds);
  }

  async as(person: Person): Promise<Client> {
    return this.withToken(await this.token(person));
  }

  withToken(token: string | null): Client {
    return new Client(() => this.proxy.url, token, this.transcript);
  }

  writePolicies(files: Files): void {
    write(join(this.dir, 'policies'), files);
  }

  /** They count from the next start. */
  writeCapabilities(files: Files): void {
    write(join(this.dir, 'capabilities'), files);
  }

  /** Settings that count from the next start. */
  set(env: Readonly<Record<string, string>>): void {
    this.env = { ...this.env, ...env };
  }

  /** Leaves nothing but the example's own policies and these. */
  replacePolicies(files: Files): void {
    const folder = join(this.dir, 'policies');
    rmSync(folder, { recursive: true });
    cpSync(join(EXAMPLE, 'policies'), folder, { recursive: true });
    write(folder, files);
  }

  removePolicies(): void {
    for (const name of readdirSync(join(this.dir, 'policies'))) rmSync(join(this.dir, 'policies', name));
  }

  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.proxy.kill(signal);
    this.outputs.push(this.proxy.output());
    this.proxy = await startProxy({ env: this.env, nodeArgs: QUICK_WASM });
    await this.warmUp();
  }

  /** Ends every process, the folder stays. Answers the proxy's exit code. */
  async end(): Promise<number | null> {
    const code = await this.proxy.kill('SIGTERM');
    await this.provider.stop();
    await this.tool.stop();
    return code;
  }

  /** Ends and removes everything, whatever state a failed test left. */
  async destroy(): Promise<void> {
    await this.proxy.kill('SIGKILL');
    await this.provider.stop();
    await this.tool.stop().catch(() => undefined);
    rmSync(this.dir, { recursive: true, force: true });
  }
}

function prepareFolders(dir: string, { capabilities = {}, policies = {} }: StackOptions): void {
  for (const folder of ['capabilities', 'policies']) {
    cpSync(join(EXAMPLE, folder), join(dir, folder), { recursive: true });
    if (readdirSync(join(dir, folder)).length === 0) throw new Error(`the example has no ${folder}`);
  }
  write(join(dir, 'capabilities'), capabilities);
  write(join(dir, 'policies'), policies);
}

function write(folder: string, files: Files): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

function environment(
  dir: string,
  jwksFile: string,
  upstreams: Readonly<Record<string, string>>,
  apiKey: string,
  options: StackOptions,
): Record<string, string> {
  return {
    PAYMENTS_KEY: apiKey,
    COUNTERSIGN_DATA_DIR: join(dir, 'data'),
    COUNTERSIGN_STORAGE__KEY_FILE: join(dir, 'data', 'keys', 'key-encryption-key.json'),
    COUNTERSIGN_IDENTITY__JWKS_FILE: jwksFile,
    COUNTERSIGN_UPSTREAMS: JSON.stringify(upstreams),
    COUNTERSIGN_CAPABILITIES__DIR: join(dir, 'capabilities'),
    COUNTERSIGN_POLICY__DIR: join(dir, 'policies'),
    COUNTERSIGN_POLICY__APPROVER_GROUPS: JSON.stringify(['support-lead', 'finance']),
    COUNTERSIGN_HTTP__PORT: '0',
    ...QUICK,
    ...options.env,
  };
}
