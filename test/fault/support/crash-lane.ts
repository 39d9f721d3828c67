import { PEOPLE } from '../../../examples/refunds/stack.mjs';
import { until } from '../../support/until.js';
import { WebhookReceiver } from '../../support/webhook-receiver.js';
import { CAN_CRASH, FaultStack, NEEDS_LEAD, type Answer, type CrashPlan } from './fault-stack.js';
import { callRecords } from './stopped-database.js';

/** What the tool does with the calls of a round, each a little later than the one before; all of them at every point. */
const OUTCOMES = {
  'effect and answer': { delayBeforeMs: 120 },
  'no effect, refused': { delayBeforeMs: 240, rejectWith: 422 },
  'effect, answer lost': { delayBeforeMs: 360, resetAfterEffect: true },
  'no effect, answer lost': { delayBeforeMs: 480, resetBeforeEffect: true },
} as const;

/** Calls of a round. */
export const CALLS = Object.keys(OUTCOMES).length;

/** One moment to die in. */
export interface CrashRound {
  readonly title: string;
  readonly point: CrashPlan['point'];
  readonly event?: string;
  readonly method?: string;
  /** At which match of the round's calls; the first where it is left out. */
  readonly count?: number;
  /** The calls wait for people first, and people allow them. */
  readonly asksPeople?: true;
  /** Dies there for a second time, in its recovery. */
  readonly thenAtBoot?: CrashPlan;
}

interface Asked {
  readonly key: string;
  readonly args: { readonly orderId: string; readonly amountMinor: number };
  /** Null: the proxy died before it said that it had the call. */
  acknowledged: string | null;
  /** Somebody allowed it and was told that this is recorded. */
  voted: boolean;
}

/** What a round left behind: every call that exists now, and what the proxy had promised and does not keep. */
export interface RoundOutcome {
  readonly toolCallIds: readonly string[];
  readonly broken: readonly string[];
}

const WEBHOOKS = ['tool.call.*', 'approval.*'];

/** A proxy that dies round by round. Each round is a tenant of its own, so that work of earlier ones is not mistaken for its. */
export class CrashLane {
  private constructor(
    readonly stack: FaultStack,
    readonly receiver: WebhookReceiver,
    private readonly name: string,
  ) {}

  static async start(name: string): Promise<CrashLane> {
    const receiver = await WebhookReceiver.start();
    const ops = {
      kind: 'webhook',
      url: receiver.url,
      secrets: ['env:OPS_SECRET'],
      allowAddresses: ['loopback'],
      from: 'beginning',
      types: WEBHOOKS,
      backoffMs: 20,
      backoffMsMax: 100,
      timeoutMs: 2_000,
    };
    const env = {
      ...CAN_CRASH,
      OPS_SECRET: `whsec_${Buffer.alloc(32, 9).toString('base64')}`,
      COUNTERSIGN_OUTBOX__SINKS: JSON.stringify({ ops }),
    };
    const stack = await FaultStack.start({ env, timeout: '1500ms' });
    return new CrashLane(stack, receiver, name);
  }

  async end(): Promise<void> {
    await this.stack.end();
    await this.receiver.stop();
  }

  /** Calls on their way, death at the point, a new process, and everything asked again under its key. */
  async die(round: CrashRound, number: number): Promise<RoundOutcome> {
    const tenant = `${this.name}-${number}`;
    const calls = await this.prepare(tenant, round);
    // Calls of the round before that had to be asked for again have left the wire too, and reach no point any more.
    const isOnItsWay = /^(?:authorized|dispatching|dispatched)$/;
    const onTheirWay = () => callRecords(this.stack.dataDir).filter(({ status }) => isOnItsWay.test(status)).length;
    await until('nothing on the wire', onTheirWay, (count) => count === 0);
    const { point, count = 1, event, method } = round;
    const about = point.startsWith('storage.') ? { tenant } : {};
    const plan = { point, count, ...about, ...(event === undefined ? {} : { event }) };
    this.stack.crashAt({ ...plan, ...(method === undefined ? {} : { method }) });
    await Promise.all(calls.map((call) => this.ask(tenant, call, round).catch(() => null)));
    await this.stack.crashed();
    if (round.thenAtBoot !== undefined) await this.dieAgain(round.thenAtBoot);
    await this.stack.boot();
    return this.askAgain(tenant, calls, round);
  }

  private async dieAgain(plan: CrashPlan): Promise<void> {
    this.stack.crashAt(plan);
    const ended = await this.stack.boot().then(
      () => 'it runs',
      (error: Error) => error.message,
    );
    this.stack.crashAt(null);
    if (!ended.startsWith('ended with null')) throw new Error(`no death in recovery: ${ended.slice(0, 500)}`);
  }

  private async prepare(tenant: string, { asksPeople }: CrashRound): Promise<Asked[]> {
    const amountMinor = asksPeople === true ? NEEDS_LEAD : 1_000;
    return Promise.all(
      Object.values(OUTCOMES).map(async (switches, n) => {
        const orderId = await this.stack.order(`${tenant}-${n}`);
        await this.stack.fault({ orderId, ...switches });
        const args = { orderId, amountMinor };
        return { key: `${tenant}-${n}`, args, acknowledged: null, voted: false };
      }),
    );
  }

  private async ask(tenant: string, call: Asked, { asksPeople }: CrashRound): Promise<void> {
    const proposed = await this.propose(tenant, call);
    if (proposed.status !== 202) throw new Error(`not taken: ${JSON.stringify(proposed.body)}`);
    call.acknowledged = proposed.body.toolCallId;
    if (asksPeople !== true) return;
    const vote = await this.allow(tenant, proposed.body.approval.approvalId);
    call.voted = vote.status === 200;
  }

  private async askAgain(tenant: string, calls: readonly Asked[], { asksPeople }: CrashRound): Promise<RoundOutcome> {
    const broken: string[] = [];
    const toolCallIds: string[] = [];
    for (const call of calls) {
      const again = await this.propose(tenant, call);
      toolCallIds.push(again.body.toolCallId);
      const isSame = again.body.toolCallId === call.acknowledged && again.headers.get('idempotent-replayed') === 'true';
      if (call.acknowledged !== null && !isSame) broken.push(`${call.acknowledged} was acknowledged and is forgotten`);
      if (asksPeople !== true || again.body.approval === null) continue;
      const { approvalId } = again.body.approval;
      const { body } = await this.stack.call({ ...PEOPLE.lena, tenant }, 'GET', `/v1/approvals/${approvalId}`);
      if (call.voted && body.status === 'pending') broken.push(`the vote on ${approvalId} is forgotten`);
      if (body.status === 'pending') await this.allow(tenant, approvalId);
    }
    return { toolCallIds, broken };
  }

  private propose(tenant: string, { key, args }: Asked): Promise<Answer> {
    const body = { capability: 'refund.create', arguments: args };
    const headers = { 'idempotency-key': key, prefer: 'wait=0' };
    return this.stack.call({ ...PEOPLE.harness, tenant }, 'POST', '/v1/tool-calls', body, headers);
  }

  private async allow(tenant: string, approvalId: string): Promise<Answer> {
    const lena = { ...PEOPLE.lena, tenant };
    const { body } = await this.stack.call(lena, 'GET', `/v1/approvals/${approvalId}`);
    const decision = { decision: 'allow', digest: body.digest };
    return this.stack.call(lena, 'POST', `/v1/approvals/${approvalId}/decision`, decision);
  }
}
