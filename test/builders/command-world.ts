import type { Capability } from '../../src/capabilities/manifest.js';
import { CancelToolCall } from '../../src/control/cancel-tool-call/cancel-tool-call.command.js';
import { CancelToolCallHandler } from '../../src/control/cancel-tool-call/cancel-tool-call.handler.js';
import { DecideApproval } from '../../src/control/decide-approval/decide-approval.command.js';
import { DecideApprovalHandler } from '../../src/control/decide-approval/decide-approval.handler.js';
import { LostGround } from '../../src/control/decide-approval/lost-ground.js';
import { ResolveHandoff } from '../../src/control/resolve-handoff/resolve-handoff.command.js';
import { ResolveHandoffHandler } from '../../src/control/resolve-handoff/resolve-handoff.handler.js';
import { ResumeRun } from '../../src/control/resume-run/resume-run.command.js';
import { ResumeRunHandler } from '../../src/control/resume-run/resume-run.handler.js';
import { RetryToolCall } from '../../src/control/retry-tool-call/retry-tool-call.command.js';
import { RetryToolCallHandler } from '../../src/control/retry-tool-call/retry-tool-call.handler.js';
import { StopRun } from '../../src/control/stop-run/stop-run.command.js';
import { StopRunHandler } from '../../src/control/stop-run/stop-run.handler.js';
import { SuspendRun } from '../../src/control/suspend-run/suspend-run.command.js';
import { SuspendRunHandler } from '../../src/control/suspend-run/suspend-run.handler.js';
import { CountersignError } from '../../src/domain/errors/countersign-error.js';
import type { ToolCallCommand } from '../../src/domain/tool-call/tool-call.commands.js';
import type { ToolCallStatus } from '../../src/domain/tool-call/tool-call.state.js';
import { ApprovalExpiry } from '../../src/policy/approvals/approval-expiry.js';
import { Cancellation } from '../../src/proxy/cancel/cancellation.js';
import type { HttpConnector } from '../../src/proxy/connectors/http.connector.js';
import type { CancelAnswer } from '../../src/proxy/core/cancel-answer.js';
import { Dispatcher } from '../../src/proxy/executor/dispatcher.js';
import type { Executor } from '../../src/proxy/executor/executor.worker.js';
import { StopLegs } from '../../src/proxy/stop/stop-legs.js';
import { StoppingRuns } from '../../src/proxy/stop/stopping-runs.worker.js';
import { Patience } from '../../src/proxy/sweep/patience.js';
import { OrphanedAttempts } from '../../src/proxy/sweep/orphaned-attempts.js';
import type { TableRow } from '../../src/storage/rows/tables.js';
import { GuardFailed } from '../../src/storage/unit.js';
import type { LoadedCall } from '../../src/storage/units/load.js';
import { deliveredContract, GO_ON } from './resume-examples.js';
import { AGENT, APPROVER, Installation, OPERATOR, refundCapability, TENANT } from './installation.js';

export const CANCEL = {
  by: 'idempotency_key',
  request: { method: 'POST', path: '/v1/cancel', body: { key: '{downstreamKey}' } },
} as const;

export const CAPABILITIES: readonly Capability[] = [
  refundCapability({ timeout: '30s' }),
  refundCapability({ name: 'refund.cancellable', cancel: CANCEL, timeout: '30s' }),
];

/** One thing that somebody or something does; `pick` says to which of the calls or runs there are. */
export interface Doing {
  readonly what: keyof typeof DOINGS;
  readonly pick: number;
  readonly flavour: number;
}

/** The real handlers and workers over a store in memory, a policy and a tool that answer as they are told. */
export class CommandWorld {
  readonly calls: string[] = [];
  /** Attempts handed to the tool, with the call as the executor holds it: `tool.call.dispatching` is a send. */
  readonly onTheWire: LoadedCall[] = [];
  /** What each command was answered: `accepted`, or the code of the refusal. */
  readonly answers: string[] = [];
  cancelAnswer: CancelAnswer = 'cancelled';
  readonly dispatcher: Dispatcher;
  readonly cancellation: Cancellation;
  readonly stopping: StoppingRuns;
  readonly orphans: OrphanedAttempts;
  readonly expiry: ApprovalExpiry;
  protected orders = 0;

  constructor(readonly installation = new Installation({ capabilities: CAPABILITIES })) {
    const { desk, gate, judge, rejudgement, recorder, settings, log, store, leases } = this.installation;
    this.dispatcher = new Dispatcher(desk, gate, judge, rejudgement, leases.authority);
    const connector = {
      cancel: async () => ({ answer: this.cancelAnswer, effect: 'none', evidence: {} }),
    };
    this.cancellation = new Cancellation(desk, gate, judge, connector as unknown as HttpConnector, recorder);
    this.stopping = new StoppingRuns(desk, new StopLegs(desk, gate, recorder, settings, log), log);
    const executor = { isCarrying: () => false };
    this.orphans = new OrphanedAttempts(
      desk,
      executor as unknown as Executor,
      recorder,
      log,
      new Patience(gate, GO_ON),
    );
    this.expiry = new ApprovalExpiry(desk, log);
    this.stopping.start();
    store.feed.subscribe('sends', ({ unit }) => {
      for (const { stream, events } of unit.appends) {
        if (!events.some(({ type }) => type === 'tool.call.dispatching')) continue;
        gate.slots.giveBack(stream.id);
        void this.installation.call(stream.id).then((call) => this.onTheWire.push(call));
      }
    });
  }

  async do({ what, pick, flavour }: Doing): Promise<void> {
    this.answers.push(await this.answerTo(() => DOINGS[what](this, pick, flavour)));
    await this.stopping.idle();
  }

  protected async answerTo(work: () => Promise<unknown>): Promise<string> {
    try {
      await work();
      return 'accepted';
    } catch (error) {
      if (error instanceof CountersignError) return error.code;
      // Workers that lose a race look again later; what they wanted is not recorded.
      if (error instanceof GuardFailed) return 'accepted';
      throw error;
    }
  }

  async propose(flavour: number): Promise<void> {
    const { policy } = this.installation;
    if (flavour % 4 === 0) policy.deny('no');
    else if (flavour % 4 === 1) policy.ask();
    else policy.allow();
    this.orders += 1;
    const id = await this.installation.propose({
      capability: flavour % 2 === 0 ? 'refund.create' : 'refund.cancellable',
      arguments: { orderId: `o-${this.orders}`, amountMinor: 1 },
      runLabel: `run-${flavour % 3}`,
    });
    this.calls.push(id);
  }

  /** Four of five picks are among the calls that fit, where there are any. Null when there is no call yet. */
  call(pick: number, fits: (row: TableRow<'tool_calls'>) => boolean = () => true): string | null {
    const fitting = this.installation.store.rows('tool_calls').filter(fits);
    const ids = pick % 5 === 0 || fitting.length === 0 ? this.calls : fitting.map(({ tool_call_id: id }) => id);
    return ids[pick % Math.max(1, ids.length)] ?? null;
  }

  async runOf(pick: number): Promise<string> {
    const id = this.call(pick);
    return id === null ? 'run_never' : (await this.installation.call(id)).row.run_id;
  }
}

type Deed = (world: CommandWorld, pick: number, flavour: number) => Promise<unknown>;

/** Nothing happens while there is no call to do it to. */
const toCall =
  (
    fits: (row: TableRow<'tool_calls'>) => boolean,
    deed: (world: CommandWorld, id: string, flavour: number) => Promise<unknown>,
  ): Deed =>
  async (world, pick, flavour) => {
    const id = world.call(pick, fits);
    return id === null ? undefined : deed(world, id, flavour);
  };

/** What a tool may answer, late or in time; the executor records it against what is true then. */
function toolSays(flavour: number, at: string): ToolCallCommand {
  const sentAt = at;
  switch (flavour % 5) {
    case 0:
      return {
        kind: 'complete',
        acceptedAt: at,
        sentAt,
        completion: { basis: 'direct', result: {}, resultDigest: 'sha256:r', resultTruncated: false },
      };
    case 1:
      return {
        kind: 'fail',
        acceptedAt: at,
        sentAt,
        failure: { code: 'rejected_by_tool', effect: 'none', basis: 'rejected', retryable: flavour % 3 > 0 },
      };
    case 2:
      return {
        kind: 'fail',
        acceptedAt: at,
        sentAt,
        failure: { code: 'half_done', effect: 'partial', basis: 'rejected', retryable: true },
      };
    case 3:
      return { kind: 'mark_unknown', sentAt, unknown: { cause: 'reset' } };
    default:
      return {
        kind: 'record_acceptance',
        sentAt,
        acceptance: { acceptedAt: at, basis: 'ack', externalRequestId: 'r' },
      };
  }
}

async function decide(world: CommandWorld, id: string, flavour: number): Promise<unknown> {
  const { desk, commands, gate, judge, rejudgement } = world.installation;
  const { row } = await world.installation.call(id);
  if (row.approval_id === null) return undefined;
  const approval = await world.installation.approvalOf(id);
  const lostGround = new LostGround(desk, world.expiry, rejudgement);
  const decision = flavour % 4 === 0 ? 'deny' : 'allow';
  const { approval_id: approvalId } = approval.row;
  const word = {
    approvalId,
    decision,
    digest: approval.state.consentDigest,
    reason: null,
    expectedVersion: null,
  } as const;
  return new DecideApprovalHandler(desk, commands, gate, judge, lostGround).execute(
    new DecideApproval(APPROVER, word, null),
  );
}

async function reconcile(world: CommandWorld, id: string, flavour: number): Promise<unknown> {
  const { state } = await world.installation.call(id);
  const { iso } = world.installation.clock;
  if (state.status === 'result_unknown') {
    const start = { strategy: 'query_by_idempotency_key', deadline: iso } as const;
    return world.installation.record(id, { kind: 'start_reconciliation', start });
  }
  if (state.status !== 'reconciling') return undefined;
  if (flavour % 3 === 0) {
    const handoffId = world.installation.desk.newId('hnd');
    const handoff = { reason: 'attempts_exhausted', evidenceRefs: [] } as const;
    return world.installation.record(id, { kind: 'hand_off', handoff, opened: { handoffId, packet: {} } });
  }
  return world.installation.record(id, {
    kind: 'resolve_failed',
    resolution: { verdict: 'not_happened', evidenceRefs: ['probe'] },
    failure: { code: 'absent_at_tool', effect: 'none', basis: 'reconciliation', retryable: true },
  });
}

async function resolve(world: CommandWorld, id: string, flavour: number): Promise<unknown> {
  const { desk, commands, gate } = world.installation;
  const finding = flavour % 2 === 0 ? 'not_happened' : 'happened';
  const found = { finding, evidenceRefs: ['statement-9'], note: null } as const;
  return new ResolveHandoffHandler(desk, commands, gate).execute(new ResolveHandoff(OPERATOR, id, found, null));
}

const isOneOf =
  (...statuses: readonly ToolCallStatus[]) =>
  ({ status }: TableRow<'tool_calls'>): boolean =>
    statuses.includes(status);
const isAuthorized = isOneOf('authorized');
const isUnknown = isOneOf('result_unknown', 'reconciling');
const hasEnded = isOneOf('failed', 'not_executed', 'manual_handoff');
const mayBeStopped = (row: TableRow<'tool_calls'>): boolean =>
  row.capability === 'refund.cancellable' && isOneOf('authorized', 'dispatching', 'dispatched', 'accepted')(row);

export const DOINGS = {
  propose: (world, _pick, flavour) => world.propose(flavour),
  decide: toCall(({ status }) => status === 'proposed', decide),
  dispatch: toCall(isAuthorized, (world, id) => world.dispatcher.dispatch(TENANT, id)),
  answer: async (world, pick, flavour) => {
    const [call] = world.onTheWire.splice(pick % Math.max(1, world.onTheWire.length), 1);
    if (call === undefined) return;
    await world.installation.recorder.settle(call, toolSays(flavour, world.installation.clock.iso));
  },
  note_sent: async (world, pick) => {
    const call = world.onTheWire[pick % Math.max(1, world.onTheWire.length)];
    if (call === undefined) return;
    // What the executor does: somebody else may have moved the call, and then the end finds out.
    await world.installation.recorder.recordSent(call, world.installation.clock.iso).catch(() => undefined);
  },
  cancel: toCall(mayBeStopped, (world, id) => {
    const { desk, commands, gate } = world.installation;
    return new CancelToolCallHandler(desk, commands, gate).execute(new CancelToolCall(AGENT, id, null, null));
  }),
  carry_cancel: toCall(
    ({ cancellation_requested: wish }) => wish === 1,
    async (world, id, flavour) => {
      const answers = ['cancelled', 'refused', 'not_sent', 'unanswered'] as const;
      world.cancelAnswer = answers[flavour % 4] ?? 'cancelled';
      const ready = await world.cancellation.ready(TENANT, id);
      if (ready !== null) await world.cancellation.pursue(ready);
    },
  ),
  retry: toCall(hasEnded, (world, id, flavour) => {
    const { desk, commands, gate, judge, policy } = world.installation;
    if (flavour % 2 === 0) policy.allow();
    else policy.ask();
    return new RetryToolCallHandler(desk, commands, gate, judge).execute(new RetryToolCall(AGENT, id, null, null));
  }),
  reconcile: toCall(isUnknown, reconcile),
  resolve: toCall(({ status }) => status === 'manual_handoff', resolve),
  stop: async (world, pick) => {
    const { desk, commands } = world.installation;
    const runId = await world.runOf(pick);
    return new StopRunHandler(desk, commands).execute(new StopRun(AGENT, runId, false, null, null));
  },
  suspend: async (world, pick) => {
    const { desk, commands, settings } = world.installation;
    const runId = await world.runOf(pick);
    return new SuspendRunHandler(desk, commands, settings).execute(new SuspendRun(AGENT, runId, null, null));
  },
  resume: async (world, pick) => {
    const { desk, commands } = world.installation;
    const runId = await world.runOf(pick);
    return new ResumeRunHandler(desk, commands, deliveredContract()).execute(new ResumeRun(AGENT, runId, null, null));
  },
  time_passes: async (world, _pick, flavour) => {
    world.installation.clock.advance((flavour % 5) * 15_000);
    await world.expiry.tick();
    await world.orphans.tick();
    await world.stopping.tick();
  },
} as const satisfies Readonly<Record<string, Deed>>;
