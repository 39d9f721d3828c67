import { CapabilityGate } from '../../src/capabilities/capability-gate.js';
import { CapabilityRegistry, manifestDigest } from '../../src/capabilities/capability-registry.js';
import { DispatchHandover } from '../../src/capabilities/dispatch-handover.js';
import { ExecutionSlots } from '../../src/capabilities/execution-slots.js';
import type { Capability } from '../../src/capabilities/manifest.js';
import { PAUSE_REVISION, PauseBoard } from '../../src/capabilities/pause-board.js';
import type { Settings } from '../../src/config/settings.js';
import { CommandLog } from '../../src/control/command-log.js';
import { IntentReader } from '../../src/control/propose-tool-call/intent-reader.js';
import { ProposalUnits } from '../../src/control/propose-tool-call/proposal-units.js';
import { ProposeToolCall, type Proposal } from '../../src/control/propose-tool-call/propose-tool-call.command.js';
import { ProposeToolCallHandler } from '../../src/control/propose-tool-call/propose-tool-call.handler.js';
import { RunDirectory } from '../../src/control/propose-tool-call/run-directory.js';
import type { ToolCallCommand } from '../../src/domain/tool-call/tool-call.commands.js';
import type { Caller } from '../../src/identity/caller.js';
import { Rejudgement } from '../../src/policy/approvals/rejudgement.js';
import { CaseFile } from '../../src/policy/case-file.js';
import { GrantBoard } from '../../src/policy/grants/grant-board.js';
import { GrantBook } from '../../src/policy/grants/grant-book.js';
import type { PolicyDecision, PolicyRequest } from '../../src/policy/core/policy-types.js';
import { NO_FACTS, type FactNeeds } from '../../src/policy/core/facts.js';
import { FactReader } from '../../src/policy/facts/fact-reader.js';
import { Judge } from '../../src/policy/judge.js';
import { JudgementGrounds } from '../../src/policy/judgement-grounds.js';
import { POLICY_SCOPE } from '../../src/policy/policy-guard.js';
import type { PolicyService } from '../../src/policy/policy.service.js';
import { CallRecorder } from '../../src/proxy/executor/call-recorder.js';
import { InstanceIdentity } from '../../src/storage/instance-identity.js';
import { loadApproval, loadCall, type LoadedApproval, type LoadedCall } from '../../src/storage/units/load.js';
import { UnitDesk } from '../../src/storage/units/unit-desk.js';
import { Logger, type LogFields } from '../../src/system/logger.js';
import { capabilityWith, type Changes } from '../contract/capabilities/manifest-examples.js';
import { leasesOf, type LeaseParts } from './lease-parts.js';
import { countedIds, ManualClock } from './manual-clock.js';
import { MemoryStore } from './memory-store.js';
import { ScriptedWorld } from './precondition-examples.js';
import { settingsWith } from './settings-examples.js';

export const TENANT = 'acme';
export const REVISION = 'sha256:policy-1';

/** Answers every request as it is told, and keeps what it was asked. */
export class ScriptedPolicy {
  readonly asked: PolicyRequest[] = [];
  answer: Partial<PolicyDecision> = {};
  inForce: string | null = REVISION;

  needs: FactNeeds = NO_FACTS;

  revision(): string | null {
    return this.inForce;
  }

  async decide(request: PolicyRequest): Promise<PolicyDecision> {
    this.asked.push(request);
    return {
      outcome: 'allow',
      reasons: [],
      denyCode: null,
      determining: ['a-policy'],
      obligations: null,
      engineErrors: [],
      policyRevision: this.inForce ?? 'none',
      schemaDigest: 'sha256:schema',
      engineVersion: '4',
      requestDigest: 'sha256:request',
      ...this.answer,
    };
  }

  allow(): void {
    this.answer = {};
  }

  deny(...reasons: string[]): void {
    this.answer = { outcome: 'deny', denyCode: 'forbidden', reasons };
  }

  ask(more: Partial<PolicyDecision['obligations'] & object> = {}): void {
    this.answer = {
      outcome: 'requires_confirmation',
      reasons: ['amount'],
      obligations: {
        rules: [{ group: 'finance', count: 1, notRequester: true }],
        decideWithinMs: 3_600_000,
        executionWindowMs: 900_000,
        ...more,
      },
    };
  }
}

/** The scripted policy where the service is wanted. */
export function servicePlayedBy(policy: ScriptedPolicy): PolicyService {
  const played = {
    revision: () => policy.revision(),
    decide: (request: PolicyRequest) => policy.decide(request),
    needs: () => policy.needs,
  };
  return played as unknown as PolicyService;
}

/** Keeps what was logged. */
export class KeptLog extends Logger {
  readonly lines: { readonly level: string; readonly message: string; readonly fields: LogFields }[] = [];

  override error(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'error', message, fields });
  }

  override warn(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'warn', message, fields });
  }

  override info(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'info', message, fields });
  }

  override debug(message: string, fields: LogFields = {}): void {
    this.lines.push({ level: 'debug', message, fields });
  }
}

export function callerWith(more: Partial<Caller> = {}): Caller {
  return {
    tenant: TENANT,
    actor: { sub: 'alice', act: { sub: 'agent-7' } },
    roles: ['harness'],
    groups: [],
    agentOwner: null,
    isAgent: true,
    ...more,
  };
}

export const AGENT = callerWith();
export const OPERATOR = callerWith({ actor: { sub: 'olga' }, roles: ['operator'], isAgent: false });
export const APPROVER = callerWith({
  actor: { sub: 'fay' },
  roles: ['approver'],
  groups: ['finance'],
  isAgent: false,
});

export function proposalWith(more: Partial<Proposal> = {}): Proposal {
  return {
    capability: 'refund.create',
    arguments: { orderId: 'o-1', amountMinor: 500 },
    idempotencyKey: 'key-1',
    runId: null,
    runLabel: null,
    turnId: null,
    callId: null,
    reasoningObjectId: null,
    skillId: null,
    intentId: null,
    allowDuplicateIntent: false,
    reason: null,
    executeBefore: null,
    ...more,
  };
}

export function refundCapability(changes: Changes = {}): Capability {
  const capability = capabilityWith(changes);
  return { ...capability, manifestDigest: manifestDigest(capability.manifest) };
}

interface Options {
  readonly capabilities?: readonly Capability[];
  readonly settings?: Settings;
  readonly policy?: ScriptedPolicy;
}

/** The parts of a running product in memory, for specs of one part: real rules, a scripted policy, no tool. */
export class Installation {
  readonly clock = new ManualClock('2031-01-01T10:00:00.000Z');
  readonly store = new MemoryStore(this.clock);
  readonly log = new KeptLog();
  readonly policy: ScriptedPolicy;
  readonly facts: FactReader;
  readonly world = new ScriptedWorld();
  readonly ids = countedIds(this.clock);
  readonly desk = new UnitDesk(
    this.store,
    this.ids,
    this.clock,
    new InstanceIdentity({ instanceId: 'ins_1', epoch: 2 }),
  );
  readonly settings: Settings;
  readonly capabilities: Capability[];
  readonly registry: CapabilityRegistry;
  readonly pauses = new PauseBoard(this.store.read, this.store.feed);
  readonly slots: ExecutionSlots;
  readonly gate: CapabilityGate;
  readonly grants = new GrantBook(this.store, new GrantBoard(this.store.read, this.store.feed));
  readonly judge: Judge;
  readonly recorder: CallRecorder;
  readonly rejudgement: Rejudgement;
  readonly runs = new RunDirectory(this.desk);
  readonly commands = new CommandLog(this.desk);
  readonly leases: LeaseParts;
  readonly units: ProposalUnits;
  readonly proposing: ProposeToolCallHandler;
  private keys = 0;

  constructor({
    capabilities = [refundCapability()],
    settings = settingsWith(),
    policy: scripted = new ScriptedPolicy(),
  }: Options = {}) {
    this.policy = scripted;
    this.settings = settings;
    this.capabilities = [...capabilities];
    this.registry = new CapabilityRegistry(this.capabilities);
    this.slots = new ExecutionSlots(
      this.clock,
      settings.execution.maxInFlight,
      (name) => this.registry.get(name)?.manifest ?? null,
    );
    this.gate = new CapabilityGate(this.registry, this.pauses, new DispatchHandover(this.slots));
    const preconditions = this.world.preconditions(settings, this.store, this.clock, this.log);
    const policy = servicePlayedBy(this.policy);
    this.facts = new FactReader(policy, this.pauses, this.desk, settings);
    const grounds = new JudgementGrounds(this.facts, this.grants, preconditions);
    this.judge = new Judge(policy, new CaseFile(this.store), settings, grounds);
    this.recorder = new CallRecorder(this.desk, this.gate, this.log);
    this.rejudgement = new Rejudgement(this.desk, this.gate, this.judge);
    this.leases = leasesOf(this);
    this.units = new ProposalUnits(this.desk, this.gate, this.judge, this.runs, this.leases.authority);
    this.proposing = new ProposeToolCallHandler(
      this.desk,
      new IntentReader(this.registry, settings),
      this.gate,
      this.judge,
      this.units,
    );
    this.seed();
  }

  get revision(): string {
    return this.store.rows('policy_active')[0]?.revision ?? '';
  }

  /** Proposes under a new key and answers the id. */
  async propose(more: Partial<Proposal> = {}, caller: Caller = AGENT): Promise<string> {
    this.keys += 1;
    const proposal = proposalWith({ idempotencyKey: `key-${this.keys}`, ...more });
    return (await this.proposing.execute(new ProposeToolCall(caller, proposal))).toolCallId;
  }

  /** A call that is authorized and not dispatched, because no slot was free at that moment. */
  async authorized(more: Partial<Proposal> = {}): Promise<string> {
    const taken = this.fillSlots();
    const toolCallId = await this.propose(more);
    for (const slot of taken) this.slots.release(slot);
    return toolCallId;
  }

  async call(toolCallId: string): Promise<LoadedCall> {
    const call = await loadCall(this.store.read, TENANT, toolCallId);
    if (call === null) throw new Error('there is no such call');
    return call;
  }

  async approvalOf(toolCallId: string): Promise<LoadedApproval> {
    const { row } = await this.call(toolCallId);
    const approval = await loadApproval(this.store.read, TENANT, row.approval_id ?? '');
    if (approval === null) throw new Error('there is no such approval');
    return approval;
  }

  /** Records commands of one call, each as a unit of its own. */
  async record(toolCallId: string, ...commands: readonly ToolCallCommand[]): Promise<void> {
    for (const command of commands) await this.recorder.record(await this.call(toolCallId), command);
  }

  private fillSlots(): object[] & { readonly capability: string }[] {
    const taken = [];
    for (const { manifest } of this.capabilities) {
      for (let slot = this.slots.tryAcquire(manifest.name); slot !== null; slot = this.slots.tryAcquire(manifest.name))
        taken.push(slot);
    }
    return taken;
  }

  private seed(): void {
    this.store.seed('meta', { name: PAUSE_REVISION, value: '0' });
    this.store.seed('policy_active', {
      scope: POLICY_SCOPE,
      revision: REVISION,
      schema_digest: 'sha256:schema',
      stream_version: 0,
      activated_event_id: null,
      activated_at: this.clock.iso,
    });
    this.store.seed('instances', {
      instance_id: 'ins_1',
      epoch: 2,
      pid: 1,
      started_at: this.clock.iso,
      heartbeat_at: this.clock.iso,
      state: 'running',
    });
    for (const { manifest, manifestDigest: digest } of this.capabilities) {
      this.store.seed('capabilities', {
        name: manifest.name,
        version: manifest.version,
        manifest_digest: digest,
        state: 'active',
        stream_version: 0,
        last_event_id: 'evt_0',
        updated_at: this.clock.iso,
      });
    }
  }
}
