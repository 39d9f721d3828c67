import { ActOnApproval, type ApprovalAct } from '../../src/control/approvals/act-on-approval.command.js';
import { ActOnApprovalHandler } from '../../src/control/approvals/act-on-approval.handler.js';
import { ConsentGround } from '../../src/control/approvals/consent-ground.js';
import { EditToolCall } from '../../src/control/approvals/edit-tool-call.command.js';
import { EditToolCallHandler } from '../../src/control/approvals/edit-tool-call.handler.js';
import { RefuseToolCall } from '../../src/control/approvals/refuse-tool-call.command.js';
import { RefuseToolCallHandler } from '../../src/control/approvals/refuse-tool-call.handler.js';
import { GiveStandingRight, RevokeStandingRight } from '../../src/control/approvals/standing-right.command.js';
import {
  GiveStandingRightHandler,
  RevokeStandingRightHandler,
} from '../../src/control/approvals/standing-right.handlers.js';
import { DecideApproval } from '../../src/control/decide-approval/decide-approval.command.js';
import { DecideApprovalHandler } from '../../src/control/decide-approval/decide-approval.handler.js';
import { LostGround } from '../../src/control/decide-approval/lost-ground.js';
import { SetPause, type PauseTarget } from '../../src/control/set-pause/set-pause.command.js';
import { SetPauseHandler } from '../../src/control/set-pause/set-pause.handler.js';
import type { Caller } from '../../src/identity/caller.js';
import { EscalationTimer } from '../../src/policy/approvals/escalation-timer.js';
import { StaleQuestions } from '../../src/policy/approvals/stale-questions.js';
import type { PolicyDecision, PolicyRequest } from '../../src/policy/core/policy-types.js';
import { GrantBoard } from '../../src/policy/grants/grant-board.js';
import { StandingExpiry } from '../../src/policy/grants/standing-expiry.js';
import { POLICY_SCOPE } from '../../src/policy/policy-guard.js';
import type { TableRow } from '../../src/storage/rows/tables.js';
import { COUNTERSIGN } from '../../src/storage/units/unit-desk.js';
import { CAPABILITIES, CommandWorld, DOINGS } from './command-world.js';
import { answerOf, type KnownFacts } from './consent-rules.js';
import { APPROVER, callerWith, Installation, OPERATOR, REVISION, ScriptedPolicy, TENANT } from './installation.js';
import { settingsWith } from './settings-examples.js';

const person = (sub: string, ...groups: string[]): Caller => callerWith({ ...APPROVER, actor: { sub }, groups });
const BEA = person('bea', 'board');
const EVA = person('eva', 'incident');
/** Dora decides only where somebody lends her a right; Alice is the person behind the agent. */
const PEOPLE = [APPROVER, person('fred', 'finance'), BEA, BEA, person('dora'), person('alice', 'finance')];
const GROUPS = ['finance', 'board'] as const;

/** What each amount needs follows from the set in force and the facts, as with a real policy. */
class RuledPolicy extends ScriptedPolicy {
  constructor() {
    super();
    this.needs = { facts: ['agentSuspended'], counters: [], run: false };
  }

  override async decide(request: PolicyRequest): Promise<PolicyDecision> {
    const facts: KnownFacts = {
      finance: request.approvals['finance']?.count ?? 0,
      board: request.approvals['board']?.count ?? 0,
      breakGlass: request.breakGlass === true,
      suspended: request.agentSuspended === true,
    };
    const { outcome, missing } = answerOf(this.revision() ?? '', request.input['amountMinor'] as number, facts);
    if (outcome === 'deny') this.deny('no');
    else if (outcome === 'allow') this.allow();
    else this.ask({ rules: missing.map((group) => ({ group, count: 1, notRequester: true, ...WIDER })) });
    const decision = await super.decide(request);
    // The engine takes its time, and others go on meanwhile.
    for (let turn = (this.asked.length % 5) * 12; turn > 0; turn -= 1) await Promise.resolve();
    return decision;
  }
}

const WIDER = { escalation: { group: 'board', afterMs: 40_000 } };

/** One thing that a person or the clock does to consent. */
export interface ConsentDoing {
  readonly what: keyof typeof CONSENT_DOINGS;
  readonly pick: number;
  readonly flavour: number;
}

/** People, grants, pauses and policies around calls; what each send rests on is looked at in the tables as it becomes true. */
export class ConsentWorld extends CommandWorld {
  /** Sends that the policy in force would not have allowed with what was on record when they became true. */
  readonly wrong: string[] = [];
  /** What sends rested on. */
  readonly restedOn = new Set<string>();
  private revisions = 1;

  constructor() {
    const { policy } = settingsWith();
    const settings = settingsWith({
      policy: { ...policy, approverGroups: [...GROUPS], breakGlassGroups: ['incident'] },
    });
    super(new Installation({ settings, policy: new RuledPolicy(), capabilities: CAPABILITIES }));
    this.installation.store.feed.subscribe('consent', ({ unit }) => {
      for (const { stream, events } of unit.appends) {
        if (events.some(({ type }) => type === 'tool.call.dispatching')) this.lookAt(stream.id);
      }
    });
  }

  async act({ what, pick, flavour }: ConsentDoing): Promise<void> {
    this.answers.push(await this.answerTo(() => CONSENT_DOINGS[what](this, pick, flavour)));
    await this.stopping.idle();
  }

  override async propose(flavour: number): Promise<void> {
    this.orders += 1;
    const id = await this.installation.propose({
      capability: flavour % 2 === 0 ? 'refund.create' : 'refund.cancellable',
      arguments: { orderId: `o-${this.orders}`, amountMinor: 1 + (flavour % 8) },
      runLabel: `run-${flavour % 3}`,
    });
    this.calls.push(id);
  }

  /** Rows alone are read, none of the code that decided. */
  private lookAt(id: string): void {
    const { store, clock } = this.installation;
    const call = store.rows('tool_calls').find(({ tool_call_id }) => tool_call_id === id);
    const own = store.events.filter(({ envelope }) => envelope.streamId === id);
    const proposed = own.find(({ envelope }) => envelope.eventType === 'tool.call.proposed')?.payload;
    const authorized = own.findLast(({ envelope }) => envelope.eventType === 'capability.authorized')?.payload;
    const decided = own.findLast(({ envelope }) => envelope.eventType === 'policy.decided')?.payload;
    if (call === undefined || proposed === undefined || decided === undefined || authorized === undefined)
      throw new Error('nothing was proposed');
    // A call that was judged anew and allowed by the policy alone rests on no vote of before.
    const approval =
      authorized['basis'] === 'approval'
        ? store.rows('approvals').find(({ approval_id }) => approval_id === call.approval_id)
        : undefined;
    const requesters = (proposed['requesterSubjects'] ?? []) as readonly string[];
    const voted = approval === undefined ? [] : this.votersOf(approval);
    const granted = this.standing(call, requesters);
    const pauses = store.rows('pauses');
    const facts: KnownFacts = {
      finance: new Set([...voted, ...granted.filter(({ group }) => group === 'finance').map(({ by }) => by)]).size,
      board: new Set([...voted, ...granted.filter(({ group }) => group === 'board').map(({ by }) => by)]).size,
      breakGlass: approval !== undefined && approval.break_glass_by !== null,
      suspended: pauses.some(({ target_kind: kind }) => kind === 'agent'),
    };
    const revision = this.installation.revision;
    const amount = (proposed['arguments'] as { amountMinor: number }).amountMinor;
    const run = store.rows('runs').find(({ run_id }) => run_id === call.run_id);
    const doubts = {
      policy: answerOf(revision, amount, facts).outcome !== 'allow',
      recorded: decided['policyRevision'] !== revision || decided['outcome'] !== 'allow',
      requester: voted.some((sub) => requesters.includes(sub)),
      consumed: approval !== undefined && (approval.status !== 'consumed' || approval.attempt !== call.attempt),
      late: (authorized['executeBy'] as string) <= clock.iso,
      paused: pauses.some(
        ({ target_kind: kind, target }) => kind !== 'agent' && [call.capability, 'alice'].includes(target),
      ),
      run: run?.status !== 'running',
    };
    for (const [doubt, isSo] of Object.entries(doubts)) if (isSo) this.wrong.push(`${id} ${doubt}`);
    if (facts.breakGlass) this.restedOn.add('emergency');
    if (voted.length > 0) this.restedOn.add('votes');
    if (granted.length > 0) this.restedOn.add('grants');
    if (call.attempt > 1) this.restedOn.add('retry');
    if (voted.includes('dora')) this.restedOn.add('delegation');
    if (this.revisions > 1) this.restedOn.add('another policy');
  }

  private votersOf({ approval_id: id }: TableRow<'approvals'>): string[] {
    return this.installation.store
      .rows('approval_votes')
      .filter((vote) => vote.approval_id === id && vote.decision === 'allow' && vote.withdrawn === 0)
      .map(({ sub }) => sub);
  }

  private standing(call: TableRow<'tool_calls'>, requesters: readonly string[]): { by: string; group: string }[] {
    const { store, clock } = this.installation;
    if (store.rows('refused_intents').some((row) => row.intent_digest === call.intent_digest)) return [];
    return store
      .rows('grants')
      .filter(
        ({ status, until, capability }) => status === 'active' && until > clock.iso && capability === call.capability,
      )
      .filter(({ granted_by: by }) => !requesters.includes(by))
      .map(({ granted_by: by, approver_group: group }) => ({ by, group }));
  }

  /** Another set comes into force: first the row, then whoever asks. */
  async changePolicy(): Promise<void> {
    const { desk, policy, store } = this.installation;
    this.revisions += 1;
    const revision = `${REVISION}-${this.revisions}`;
    const occurredAt = desk.now();
    const draft = desk.begin({
      tenant: TENANT,
      lane: 'govern',
      actor: COUNTERSIGN,
      correlationId: revision,
      occurredAt,
      causationId: null,
      causeKind: 'external',
    });
    const row = store.rows('policy_active').find(({ scope }) => scope === POLICY_SCOPE);
    if (row === undefined) throw new Error('no policy is in force');
    await desk.commit(draft.write({ op: 'put', table: 'policy_active', row: { ...row, revision } }));
    policy.inForce = revision;
  }

  private get lostGround(): LostGround {
    const { desk, rejudgement } = this.installation;
    return new LostGround(desk, this.expiry, rejudgement);
  }

  async vote(id: string, caller: Caller, decision: 'allow' | 'deny'): Promise<unknown> {
    const { desk, commands, gate, judge } = this.installation;
    const { row, state } = await this.installation.approvalOf(id);
    const word = { approvalId: row.approval_id, decision, digest: state.consentDigest, reason: null } as const;
    return new DecideApprovalHandler(desk, commands, gate, judge, this.lostGround).execute(
      new DecideApproval(caller, { ...word, expectedVersion: null }, null),
    );
  }

  async actOn(id: string, caller: Caller, act: ApprovalAct): Promise<unknown> {
    const { desk, commands, gate, judge, rejudgement, settings } = this.installation;
    const { row } = await this.installation.approvalOf(id);
    const ground = new ConsentGround(gate, judge, this.lostGround);
    const handler = new ActOnApprovalHandler(desk, commands, ground, rejudgement, settings);
    return handler.execute(new ActOnApproval(caller, row.approval_id, act, null));
  }

  async edit(id: string, amountMinor: number): Promise<unknown> {
    const { desk, commands, judge, proposing } = this.installation;
    const { row, state } = await this.installation.approvalOf(id);
    this.orders += 1;
    const args = { orderId: `o-${this.orders}`, amountMinor };
    const edited = { digest: state.consentDigest, args, reason: 'less' };
    const done = new EditToolCallHandler(desk, judge, proposing, commands).execute(
      new EditToolCall(APPROVER, row.approval_id, edited),
    );
    this.calls.push((await done).toolCallId);
    return done;
  }

  /** For a while that ends within the story. */
  give(kind: 'grant' | 'delegation', flavour: number): Promise<unknown> {
    const { desk, commands, gate, settings, clock } = this.installation;
    const until = new Date(clock.now() + 60_000 + (flavour % 5) * 30_000).toISOString();
    const group = GROUPS[flavour % 2] ?? 'finance';
    const giver = group === 'board' ? BEA : (PEOPLE[flavour % 4 < 2 ? 0 : 5] ?? APPROVER);
    const capability = CAPABILITIES[flavour % 3 === 0 ? 1 : 0]?.manifest.name ?? '';
    const terms =
      kind === 'grant'
        ? ({
            kind,
            capability,
            group,
            principalSub: null,
            principalAct: null,
            argumentsEqual: null,
            until,
            reason: 'now',
          } as const)
        : ({ kind, to: 'dora', groups: null, until, reason: null } as const);
    const handler = new GiveStandingRightHandler(desk, commands, gate, settings);
    return handler.execute(new GiveStandingRight(kind === 'grant' ? giver : APPROVER, terms, null));
  }

  async revoke(kind: 'grant' | 'delegation', pick: number): Promise<void> {
    const { desk, commands, store } = this.installation;
    const ids =
      kind === 'grant'
        ? store.rows('grants').map(({ grant_id: id }) => id)
        : store.rows('delegations').map(({ delegation_id: id }) => id);
    const id = ids[pick % Math.max(1, ids.length)];
    if (id === undefined) return;
    await new RevokeStandingRightHandler(desk, commands).execute(
      new RevokeStandingRight(OPERATOR, kind, id, null, null),
    );
  }

  /** Sets it where it is not set, and lets it go where it is. */
  async pause(flavour: number): Promise<unknown> {
    const { desk, commands, gate, settings, store } = this.installation;
    const targets: readonly PauseTarget[] = [
      { kind: 'agent', value: 'agent-7' },
      { kind: 'capability', value: 'refund.create' },
      { kind: 'principal', value: 'alice' },
    ];
    const target = targets[flavour % 3] ?? { kind: 'agent', value: 'agent-7' };
    const isSet = store.rows('pauses').some(({ target_kind: kind }) => kind === target.kind);
    const command = new SetPause(OPERATOR, !isSet, target, null, null);
    return new SetPauseHandler(desk, commands, gate, settings).execute(command);
  }

  refuse(id: string): Promise<unknown> {
    const { desk, commands, settings } = this.installation;
    return new RefuseToolCallHandler(desk, commands, settings).execute(new RefuseToolCall(APPROVER, id, 'no', null));
  }

  async sweep(): Promise<void> {
    const { desk, gate, judge, rejudgement, log, store } = this.installation;
    await new StaleQuestions(desk, gate, judge, rejudgement, log).tick();
    await new EscalationTimer(desk, log).tick();
    await new StandingExpiry(desk, log, new GrantBoard(store.read, store.feed)).tick();
  }
}

type Deed = (world: ConsentWorld, pick: number, flavour: number) => Promise<unknown>;

/** To a call that people are asked about; the newest are the likelier. */
const toQuestion =
  (deed: (world: ConsentWorld, id: string, flavour: number) => Promise<unknown>, ...wanted: readonly string[]): Deed =>
  async (world, pick, flavour) => {
    const ids = world.installation.store
      .rows('approvals')
      .filter(({ status }) => (wanted.length === 0 ? ['pending'] : wanted).includes(status))
      .map(({ tool_call_id: id }) => id);
    const id = ids[pick % Math.max(1, ids.length)];
    return id === undefined ? undefined : deed(world, id, flavour);
  };

const { propose, dispatch, answer, retry, stop, suspend, resume, time_passes } = DOINGS;

export const CONSENT_DOINGS = {
  propose,
  dispatch,
  answer: (world) => answer(world, 0, 1),
  retry,
  stop,
  suspend,
  resume,
  time_passes: async (world, pick, flavour) => {
    await time_passes(world, pick, flavour);
    await world.sweep();
  },
  vote: toQuestion((world, id, flavour) =>
    world.vote(id, PEOPLE[flavour % PEOPLE.length] ?? APPROVER, flavour % 11 === 0 ? 'deny' : 'allow'),
  ),
  withdraw_vote: toQuestion(
    (world, id, flavour) =>
      world.actOn(id, PEOPLE[flavour % PEOPLE.length] ?? APPROVER, { kind: 'withdraw_vote', reason: null }),
    'pending',
    'granted',
  ),
  delegate: toQuestion((world, id) =>
    world.actOn(id, APPROVER, { kind: 'delegate', to: 'dora', until: null, groups: null, reason: null }),
  ),
  escalate: toQuestion((world, id) => world.actOn(id, APPROVER, { kind: 'escalate', group: 'board', reason: 'away' })),
  break_glass: toQuestion(async (world, id) => {
    const { state } = await world.installation.approvalOf(id);
    return world.actOn(id, EVA, { kind: 'break_glass', digest: state.consentDigest, reason: 'fire' });
  }),
  edit: toQuestion((world, id, flavour) => world.edit(id, 1 + (flavour % 8))),
  refuse: toQuestion((world, id) => world.refuse(id), 'pending', 'granted'),
  give_grant: (world, _pick, flavour) => world.give('grant', flavour),
  revoke_grant: (world, pick) => world.revoke('grant', pick),
  lend: (world, _pick, flavour) => world.give('delegation', flavour),
  take_back: (world, pick) => world.revoke('delegation', pick),
  pause: (world, _pick, flavour) => world.pause(flavour),
  change_policy: (world) => world.changePolicy(),
} as const satisfies Readonly<Record<string, Deed>>;
