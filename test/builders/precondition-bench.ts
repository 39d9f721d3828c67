import type { Capability } from '../../src/capabilities/manifest.js';
import { DecideApproval } from '../../src/control/decide-approval/decide-approval.command.js';
import { DecideApprovalHandler } from '../../src/control/decide-approval/decide-approval.handler.js';
import { LostGround } from '../../src/control/decide-approval/lost-ground.js';
import { RetryToolCall } from '../../src/control/retry-tool-call/retry-tool-call.command.js';
import { RetryToolCallHandler } from '../../src/control/retry-tool-call/retry-tool-call.handler.js';
import { CountersignError } from '../../src/domain/errors/countersign-error.js';
import { ApprovalExpiry } from '../../src/policy/approvals/approval-expiry.js';
import { Dispatcher, type DispatchResult } from '../../src/proxy/executor/dispatcher.js';
import type { LoadedApproval } from '../../src/storage/units/load.js';
import { AGENT, APPROVER, callerWith, Installation, refundCapability, TENANT } from './installation.js';
import { ORDER_PATH, preconditionWith, restsOn, type ScriptedWorld } from './precondition-examples.js';

const VOTERS = {
  fay: APPROVER,
  fred: callerWith({ ...APPROVER, actor: { sub: 'fred' } }),
  /** In no group that is asked. */
  gus: callerWith({ ...APPROVER, actor: { sub: 'gus' }, groups: [] }),
};

/** The order must stay as people saw it. */
export const UNCHANGED = preconditionWith();
/** The order must be open, whatever else it was. */
export const OPEN = preconditionWith({ name: 'is_open', title: 'The order is open', expect: { equals: 'open' } });

/** Proposals, votes and dispatches of one capability that rests on the world, with the real parts over a store in memory. */
export class PreconditionBench {
  readonly installation: Installation;
  readonly dispatcher: Dispatcher;

  constructor(...preconditions: readonly object[]) {
    const changes = preconditions.length === 0 ? {} : restsOn(...(preconditions as Record<string, unknown>[]));
    const capability: Capability = refundCapability(changes);
    this.installation = new Installation({ capabilities: [capability] });
    const { desk, gate, judge, rejudgement, leases } = this.installation;
    this.dispatcher = new Dispatcher(desk, gate, judge, rejudgement, leases.authority);
    this.order({ status: 'open' });
    this.heedPeople();
  }

  get world(): ScriptedWorld {
    return this.installation.world;
  }

  /** What the tool tells about the order from now on; undefined: it knows of none. */
  order(value: unknown): void {
    if (value === undefined) this.world.values.delete(ORDER_PATH);
    else this.world.values.set(ORDER_PATH, value);
  }

  /** A proposal about which people are asked. */
  async asked(count = 1, amountMinor = 500): Promise<string> {
    this.installation.policy.ask({ rules: [{ group: 'finance', count, notRequester: true }] });
    return this.installation.propose({ arguments: { orderId: 'o-1', amountMinor } });
  }

  /** A proposal that people have allowed. */
  async granted(): Promise<string> {
    const id = await this.asked();
    if ((await this.vote(id)) !== 'recorded') throw new Error('the vote was not recorded');
    return id;
  }

  async vote(id: string, sub: keyof typeof VOTERS = 'fay', commandId: string | null = null): Promise<string> {
    const { row, state } = await this.installation.approvalOf(id);
    const { desk, commands, gate, judge, rejudgement, log } = this.installation;
    const lostGround = new LostGround(desk, new ApprovalExpiry(desk, log), rejudgement);
    const word = {
      approvalId: row.approval_id,
      decision: 'allow',
      digest: state.consentDigest,
      reason: null,
      expectedVersion: null,
    } as const;
    const handler = new DecideApprovalHandler(desk, commands, gate, judge, lostGround);
    return codeOf(handler.execute(new DecideApproval(VOTERS[sub], word, commandId)));
  }

  dispatch(id: string): Promise<DispatchResult> {
    return this.dispatcher.dispatch(TENANT, id);
  }

  async retry(id: string): Promise<string> {
    const { desk, commands, gate, judge } = this.installation;
    const handler = new RetryToolCallHandler(desk, commands, gate, judge);
    return codeOf(handler.execute(new RetryToolCall(AGENT, id, null, null)));
  }

  async status(id: string): Promise<string> {
    return (await this.installation.call(id)).state.status;
  }

  approval(id: string): Promise<LoadedApproval> {
    return this.installation.approvalOf(id);
  }

  /** The newest payload of an event type. */
  payload(type: string): Readonly<Record<string, unknown>> {
    const event = this.installation.store.events.findLast(({ envelope }) => envelope.eventType === type);
    if (event === undefined) throw new Error(`there is no ${type}`);
    return event.payload;
  }

  /** A policy that asks people lets go what they have allowed, as a real one does. */
  private heedPeople(): void {
    const { policy } = this.installation;
    const decide = policy.decide.bind(policy);
    policy.decide = async (request) => {
      const { answer } = policy;
      const isAllowed = Object.values(request.approvals).some(({ count }) => count > 0);
      if (isAllowed && answer.outcome === 'requires_confirmation') policy.answer = {};
      const decision = await decide(request);
      policy.answer = answer;
      return decision;
    };
  }

  get sent(): number {
    return this.installation.store.events.filter(({ envelope }) => envelope.eventType === 'tool.call.dispatching')
      .length;
  }
}

export async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'recorded';
  } catch (error) {
    if (error instanceof CountersignError) return error.code;
    throw error;
  }
}
