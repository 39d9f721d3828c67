import { CapabilityGate } from '../../../src/capabilities/capability-gate.js';
import { CapabilityRegistry } from '../../../src/capabilities/capability-registry.js';
import { DispatchHandover } from '../../../src/capabilities/dispatch-handover.js';
import { ExecutionSlots } from '../../../src/capabilities/execution-slots.js';
import { PAUSE_REVISION, PauseBoard } from '../../../src/capabilities/pause-board.js';
import { CapabilityRegistration } from '../../../src/capabilities/registration.js';
import { CommandLog } from '../../../src/control/command-log.js';
import { DecideApproval } from '../../../src/control/decide-approval/decide-approval.command.js';
import { DecideApprovalHandler } from '../../../src/control/decide-approval/decide-approval.handler.js';
import { LostGround } from '../../../src/control/decide-approval/lost-ground.js';
import { IntentReader } from '../../../src/control/propose-tool-call/intent-reader.js';
import { ProposalUnits } from '../../../src/control/propose-tool-call/proposal-units.js';
import { ProposeToolCall, type Proposal } from '../../../src/control/propose-tool-call/propose-tool-call.command.js';
import { ProposeToolCallHandler } from '../../../src/control/propose-tool-call/propose-tool-call.handler.js';
import { RunDirectory } from '../../../src/control/propose-tool-call/run-directory.js';
import { ApprovalExpiry } from '../../../src/policy/approvals/approval-expiry.js';
import { Rejudgement } from '../../../src/policy/approvals/rejudgement.js';
import { GrantBoard } from '../../../src/policy/grants/grant-board.js';
import { GrantBook } from '../../../src/policy/grants/grant-book.js';
import { CaseFile } from '../../../src/policy/case-file.js';
import { FactReader } from '../../../src/policy/facts/fact-reader.js';
import { Judge } from '../../../src/policy/judge.js';
import { JudgementGrounds } from '../../../src/policy/judgement-grounds.js';
import { POLICY_SCOPE } from '../../../src/policy/policy-guard.js';
import type { Preconditions } from '../../../src/policy/preconditions/preconditions.js';
import { Dispatcher } from '../../../src/proxy/executor/dispatcher.js';
import { InstanceIdentity } from '../../../src/storage/instance-identity.js';
import type { Store } from '../../../src/storage/store.js';
import type { Committed, Unit } from '../../../src/storage/unit.js';
import { loadApproval, loadCall, type LoadedApproval, type LoadedCall } from '../../../src/storage/units/load.js';
import { UnitDesk } from '../../../src/storage/units/unit-desk.js';
import type { UnitDraft } from '../../../src/storage/units/unit-draft.js';
import { SystemClock } from '../../../src/system/clock.js';
import { IdSource } from '../../../src/system/id-source.js';
import { SystemRandom } from '../../../src/system/random-source.js';
import {
  AGENT,
  APPROVER,
  KeptLog,
  proposalWith,
  refundCapability,
  REVISION,
  ScriptedPolicy,
  servicePlayedBy,
  TENANT,
} from '../../builders/installation.js';
import { leasesOf, type LeaseParts } from '../../builders/lease-parts.js';
import type { Changes } from '../capabilities/manifest-examples.js';
import { settingsWith } from '../../builders/settings-examples.js';
import { outcomeOf } from './outcomes.js';
import { unit } from './unit-builders.js';

/** No capability of the crowd rests on anything. */
const restOnNothing = {} as unknown as Preconditions;

/** Writes at once, or keeps every unit back until all of them are there and commits them in one go. */
class CrowdedDesk extends UnitDesk {
  /** Commits of the crowd wait for this many; 0: nobody waits. */
  crowd = 0;
  /** Goes between the units of the crowd. */
  neighbours: readonly Unit[] = [];
  /** Names of guards that the units of the crowd go without. */
  without: readonly string[] = [];
  /** What became of the units of the crowd, and of their neighbours. */
  outcomes: Promise<string[]> | null = null;
  neighbourOutcomes: Promise<string[]> | null = null;
  readonly built: Unit[] = [];
  private release: () => void = () => {};
  private readonly full = new Promise<void>((resolve) => (this.release = resolve));
  private results: Promise<Committed>[] = [];

  constructor(
    private readonly under: Store,
    ids: IdSource,
    clock: SystemClock,
    identity: InstanceIdentity,
  ) {
    super(under, ids, clock, identity);
  }

  override async commit(draft: UnitDraft): Promise<Committed> {
    if (this.crowd === 0 || this.built.length === this.crowd) return super.commit(draft);
    const whole = draft.build();
    const guards = whole.guards.filter(({ name }) => !this.without.includes(name));
    const place = this.built.push({ ...whole, guards }) - 1;
    if (this.built.length === this.crowd) this.letGo();
    await this.full;
    return this.results[place] as Promise<Committed>;
  }

  private letGo(): void {
    const every = Math.max(1, Math.floor(this.built.length / Math.max(1, this.neighbours.length)));
    const beside: Promise<Committed>[] = [];
    this.results = this.built.map((built, index) => {
      const neighbour = index % every === 0 ? this.neighbours[index / every] : undefined;
      if (neighbour !== undefined) beside.push(this.under.commit(neighbour));
      return this.under.commit(built);
    });
    this.outcomes = Promise.all(this.results.map(outcomeOf));
    this.neighbourOutcomes = Promise.all(beside.map(outcomeOf));
    this.release();
  }
}

/** The product's own parts over a real store; only the policy is scripted, and there is no tool. */
export class Parts {
  readonly log = new KeptLog();
  readonly settings = settingsWith();
  private lending: LeaseParts | null = null;

  private constructor(
    readonly store: Store,
    readonly desk: CrowdedDesk,
    readonly policy: ScriptedPolicy,
    private readonly registry: CapabilityRegistry,
    readonly gate: CapabilityGate,
    private readonly slots: ExecutionSlots,
    private readonly pauses: PauseBoard,
  ) {}

  static async over(store: Store, changes: Changes = {}, policy = new ScriptedPolicy()): Promise<Parts> {
    const clock = new SystemClock();
    const identity = new InstanceIdentity(await store.registerInstance());
    const desk = new CrowdedDesk(store, new IdSource(clock, new SystemRandom()), clock, identity);
    const registry = new CapabilityRegistry([refundCapability(changes)]);
    const slots = new ExecutionSlots(
      clock,
      settingsWith().execution.maxInFlight,
      (name) => registry.get(name)?.manifest ?? null,
    );
    const pauses = new PauseBoard(store.read, store.feed);
    await store.commit(
      unit({
        writes: [
          { op: 'put', table: 'meta', row: { name: PAUSE_REVISION, value: '0' } },
          {
            op: 'put',
            table: 'policy_active',
            row: {
              scope: POLICY_SCOPE,
              revision: REVISION,
              schema_digest: 'sha256:schema',
              stream_version: 0,
              activated_event_id: null,
              activated_at: desk.now(),
            },
          },
        ],
      }),
    );
    await new CapabilityRegistration(desk, registry).register();
    await pauses.reload();
    return new Parts(
      store,
      desk,
      policy,
      registry,
      new CapabilityGate(registry, pauses, new DispatchHandover(slots)),
      slots,
      pauses,
    );
  }

  get leases(): LeaseParts {
    return (this.lending ??= leasesOf(this));
  }

  get judge(): Judge {
    const policy = servicePlayedBy(this.policy);
    const facts = new FactReader(policy, this.pauses, this.desk, this.settings);
    const grants = new GrantBook(this.store, new GrantBoard(this.store.read, this.store.feed));
    const grounds = new JudgementGrounds(facts, grants, restOnNothing);
    return new Judge(policy, new CaseFile(this.store), this.settings, grounds);
  }

  get rejudgement(): Rejudgement {
    return new Rejudgement(this.desk, this.gate, this.judge);
  }

  get lostGround(): LostGround {
    return new LostGround(this.desk, new ApprovalExpiry(this.desk, this.log), this.rejudgement);
  }

  get deciding(): DecideApprovalHandler {
    return new DecideApprovalHandler(this.desk, new CommandLog(this.desk), this.gate, this.judge, this.lostGround);
  }

  get dispatcher(): Dispatcher {
    return new Dispatcher(this.desk, this.gate, this.judge, this.rejudgement, this.leases.authority);
  }

  async call(id: string): Promise<LoadedCall> {
    const call = await loadCall(this.store.read, TENANT, id);
    if (call === null) throw new Error('there is no such call');
    return call;
  }

  async approvalOf(id: string): Promise<LoadedApproval> {
    const { row } = await this.call(id);
    const approval = await loadApproval(this.store.read, TENANT, row.approval_id ?? '');
    if (approval === null) throw new Error('there is no such approval');
    return approval;
  }

  /** A call that the policy allows and that nobody has dispatched, because no slot was free at that moment. */
  async authorized(): Promise<string> {
    const taken = [];
    for (
      let slot = this.slots.tryAcquire('refund.create');
      slot !== null;
      slot = this.slots.tryAcquire('refund.create')
    )
      taken.push(slot);
    this.policy.allow();
    const id = await this.propose();
    for (const slot of taken) this.slots.release(slot);
    return id;
  }

  /** A call that was proposed and dispatched in one unit. */
  dispatched(): Promise<string> {
    return this.propose();
  }

  /** A call that a person has approved. */
  async approved(): Promise<string> {
    this.policy.ask();
    const id = await this.propose();
    const { row, state } = await this.approvalOf(id);
    const word = {
      approvalId: row.approval_id,
      decision: 'allow',
      digest: state.consentDigest,
      reason: null,
      expectedVersion: null,
    } as const;
    await this.deciding.execute(new DecideApproval(APPROVER, word, null));
    this.policy.allow();
    return id;
  }

  /** Dispatches all at once: every one has read the same state before the first unit reaches the store. */
  async crowd(id: string, count: number, neighbours: readonly Unit[] = []): Promise<string[]> {
    this.desk.crowd = count;
    this.desk.neighbours = neighbours;
    const { dispatcher } = this;
    return Promise.all(Array.from({ length: count }, () => dispatcher.dispatch(TENANT, id)));
  }

  async propose(more: Partial<Proposal> = {}): Promise<string> {
    const { desk, gate, judge, registry, settings } = this;
    const units = new ProposalUnits(desk, gate, judge, new RunDirectory(desk), this.leases.authority);
    const handler = new ProposeToolCallHandler(desk, new IntentReader(registry, settings), gate, judge, units);
    return (await handler.execute(new ProposeToolCall(AGENT, proposalWith(more)))).toolCallId;
  }
}
