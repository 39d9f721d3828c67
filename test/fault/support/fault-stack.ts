import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { PEOPLE, signingKeys, startProvider, startProxy } from '../../../examples/refunds/stack.mjs';
import type { CrashPoint } from '../../../src/system/crash-points.js';
import { QUICK_WASM } from '../../support/quick-wasm.js';

type Person = (typeof PEOPLE)['harness'];
type Running = Awaited<ReturnType<typeof startProxy>>;
type Keys = Awaited<ReturnType<typeof signingKeys>>;

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** Whatever came: the tests assert every field they use, so a wrong shape fails there. */
  readonly body: ReturnType<typeof JSON.parse>;
}

export interface ProviderStats {
  readonly executions: number;
  readonly executionsByKey: Readonly<Record<string, number>>;
  readonly requestsByKey: Readonly<Record<string, number>>;
}

/** One refund request as the provider received it, newest first in its journal. */
export interface ReceivedRequest {
  readonly receivedAt: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export const TERMINAL: readonly string[] = ['completed', 'failed', 'manual_handoff', 'denied', 'not_executed'];

/** The amount above which the example's policy asks a support lead. */
export const NEEDS_LEAD = 7_500;

const CRASH_PLAN = 'crash-plan.json';

/** As part of `env`: the proxy can be told to die at a crash point. */
export const CAN_CRASH = { NODE_OPTIONS: `--import ${new URL('crash-when-told.mjs', import.meta.url).href}` };

/** Where to die: `crash-when-told.mjs` says what the fields mean. */
export interface CrashPlan {
  readonly point: CrashPoint;
  readonly count?: number;
  readonly tenant?: string;
  readonly event?: string;
  readonly method?: string;
}

const API_KEY = 'fault-provider-key-77aa';

/** Sweeps often, and never holds a capability: here it is the faults that are wanted, one after the other. */
const SETTINGS = {
  COUNTERSIGN_EXECUTION__SWEEP_INTERVAL_MS: '500',
  COUNTERSIGN_EXECUTION__BREAKER_FAILURES_MAX: '10000',
  COUNTERSIGN_SHUTDOWN_GRACE_MS: '2000',
  COUNTERSIGN_LOG__LEVEL: 'info',
};

/** The example's provider and the proxy as two real processes; the proxy may die and come back, the provider stays. */
export class FaultStack {
  proxy: Running | null = null;
  private readonly tokens = new Map<string, string>();
  private plans = 0;
  private readonly started: Running[] = [];

  private constructor(
    readonly dir: string,
    readonly dataDir: string,
    private readonly provider: Running,
    private readonly keys: Keys,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  /** Both processes. `dataDir` may lie on another file system; `timeout` replaces that of the refund's manifest. */
  static async start(
    options: { env?: Record<string, string>; dataDir?: string; timeout?: string } = {},
  ): Promise<FaultStack> {
    const dir = mkdtempSync(join(tmpdir(), 'countersign-fault-'));
    writeFileSync(join(dir, CRASH_PLAN), '');
    writeCapabilities(join(dir, 'capabilities'), options.timeout ?? '2s');
    const keys = await signingKeys(join(dir, 'keys'));
    const provider = await startProvider({ db: join(dir, 'provider.sqlite'), apiKey: API_KEY });
    const dataDir = options.dataDir ?? join(dir, 'data');
    const stack = new FaultStack(dir, dataDir, provider, keys, { ...SETTINGS, ...options.env });
    try {
      await stack.boot();
    } catch (error) {
      await stack.end();
      throw error;
    }
    return stack;
  }

  /**
   * Starts one more proxy on the data directory; it is not yet the one that `call` talks to. With a file its pid is
   * there at once, long before it runs or is refused.
   */
  async launch(
    env: Readonly<Record<string, string>> = {},
    pidFile: string | null = null,
    args: string[] = [],
  ): Promise<Running> {
    const running = await startProxy({
      args,
      nodeArgs: QUICK_WASM,
      ...(pidFile === null ? {} : { command: ['/bin/sh', '-c', `echo $$ > '${pidFile}'; exec "$@"`, 'sh'] }),
      env: {
        PAYMENTS_KEY: API_KEY,
        COUNTERSIGN_DATA_DIR: this.dataDir,
        COUNTERSIGN_STORAGE__KEY_FILE: join(this.dir, 'encryption', 'key-encryption-key.json'),
        COUNTERSIGN_IDENTITY__JWKS_FILE: this.keys.jwksFile,
        COUNTERSIGN_UPSTREAMS: JSON.stringify({ payments: this.provider.url }),
        COUNTERSIGN_CAPABILITIES__DIR: join(this.dir, 'capabilities'),
        COUNTERSIGN_HTTP__PORT: '0',
        CRASH_PLAN_FILE: join(this.dir, CRASH_PLAN),
        ...this.env,
        ...env,
      },
    });
    this.started.push(running);
    return running;
  }

  async boot(env: Readonly<Record<string, string>> = {}): Promise<Running> {
    this.proxy = await this.launch(env);
    return this.proxy;
  }

  get running(): Running {
    if (this.proxy === null) throw new Error('no proxy is running');
    return this.proxy;
  }

  /** `kill -9`: nothing of the process runs after this. */
  async kill(): Promise<void> {
    await this.running.kill('SIGKILL');
    this.proxy = null;
  }

  /** From now on the proxy dies there, if it was started with `CAN_CRASH`; null: nowhere. */
  crashAt(plan: CrashPlan | null): void {
    this.plans += 1;
    const file = join(this.dir, CRASH_PLAN);
    writeFileSync(`${file}.new`, plan === null ? '' : JSON.stringify({ ...plan, id: this.plans }));
    renameSync(`${file}.new`, file);
  }

  /** Waits until the proxy has died by itself, of SIGKILL. @throws Error when it lives on or ended otherwise. */
  async crashed(withinMs = 20_000): Promise<void> {
    const { exited } = this.running;
    const ended = await Promise.race([exited.then((code) => `ended with ${code}`), pause(withinMs, 'lives')]);
    this.crashAt(null);
    if (ended !== 'ended with null') throw new Error(`the proxy ${ended}: the crash point was not reached`);
    this.proxy = null;
  }

  async stop(): Promise<number | null> {
    const code = await this.running.kill('SIGTERM');
    this.proxy = null;
    return code;
  }

  async end(): Promise<void> {
    await Promise.all([...this.started, this.provider].map((process) => process.kill('SIGKILL')));
    rmSync(this.dir, { recursive: true, force: true });
  }

  async call(
    who: Person,
    method: string,
    path: string,
    body: object | null = null,
    more: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.running.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${await this.token(who)}`,
        ...(body === null ? {} : { 'content-type': 'application/json' }),
        ...more,
      },
      ...(body === null ? {} : { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  refund(key: string, args: object, waitSeconds = 0): Promise<Answer> {
    return this.call(
      PEOPLE.harness,
      'POST',
      '/v1/tool-calls',
      { capability: 'refund.create', arguments: args },
      {
        'idempotency-key': key,
        prefer: `wait=${waitSeconds}`,
      },
    );
  }

  /** A refund that waits for a support lead, and what the lead is shown. */
  async refundForApproval(
    key: string,
    orderId: string,
    amountMinor = NEEDS_LEAD,
  ): Promise<{ toolCallId: string; approvalId: string; digest: string }> {
    const proposed = await this.refund(key, { orderId, amountMinor });
    if (proposed.status !== 202) throw new Error(`not proposed: ${proposed.status} ${JSON.stringify(proposed.body)}`);
    const { toolCallId, approval } = proposed.body;
    const shown = await this.call(PEOPLE.lena, 'GET', `/v1/approvals/${approval.approvalId}`);
    return { toolCallId, approvalId: approval.approvalId, digest: shown.body.digest };
  }

  decide(who: Person, approval: { approvalId: string; digest: string }, decision: 'allow' | 'deny'): Promise<Answer> {
    const { approvalId, digest } = approval;
    return this.call(who, 'POST', `/v1/approvals/${approvalId}/decision`, { decision, digest });
  }

  async show(toolCallId: string, waitSeconds = 0): Promise<Answer['body']> {
    return (await this.call(PEOPLE.harness, 'GET', `/v1/tool-calls/${toolCallId}?wait=${waitSeconds}`)).body;
  }

  control(command: object): Promise<Answer> {
    return this.call(PEOPLE.operator, 'POST', '/v1/control', command);
  }

  /** Asks until every call is terminal; the last states when the time is over. */
  async settled(toolCallIds: readonly string[], withinMs: number): Promise<Answer['body'][]> {
    const until = performance.now() + withinMs;
    for (;;) {
      const views = await Promise.all(toolCallIds.map((id) => this.show(id)));
      if (views.every(({ status }) => TERMINAL.includes(status)) || performance.now() > until) return views;
      await pause(100);
    }
  }

  /** An order with enough money for a whole test. */
  async order(orderId: string): Promise<string> {
    await this.atProvider('POST', '/v1/orders', { orderId, amountMinor: 1_000_000_000, currency: 'EUR' });
    return orderId;
  }

  async fault(rule: object): Promise<void> {
    await this.atProvider('POST', '/_control/faults', rule);
  }

  async clearFaults(): Promise<void> {
    await fetch(`${this.provider.url}/_control/faults`, { method: 'DELETE' });
  }

  async stats(): Promise<ProviderStats> {
    return (await this.atProvider('GET', '/_control/stats')) as ProviderStats;
  }

  async received(): Promise<readonly ReceivedRequest[]> {
    const { data } = (await this.atProvider('GET', '/_control/requests?limit=2000')) as {
      data: readonly ReceivedRequest[];
    };
    return data;
  }

  private async atProvider(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.provider.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path} at the provider: ${response.status} ${await response.text()}`);
    return response.json();
  }

  async token(who: Person): Promise<string> {
    const name = JSON.stringify(who);
    const token = this.tokens.get(name) ?? (await this.keys.token(who));
    this.tokens.set(name, token);
    return token;
  }
}

const EXAMPLE_CAPABILITIES = fileURLToPath(new URL('../../../examples/refunds/capabilities', import.meta.url));

/** The example's manifests, with another timeout for refunds. */
function writeCapabilities(folder: string, timeout: string): void {
  cpSync(EXAMPLE_CAPABILITIES, folder, { recursive: true });
  const file = join(folder, 'refund.create.yaml');
  const text = readFileSync(file, 'utf8');
  const changed = text.replace(/^timeout: .*$/m, `timeout: ${timeout}`);
  if (!/^timeout: .*$/m.test(text)) throw new Error('the example has no timeout to replace');
  writeFileSync(file, changed);
}
