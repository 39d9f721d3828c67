import type { Capability } from '../../src/capabilities/manifest.js';
import { ActOnApproval, type ApprovalAct } from '../../src/control/approvals/act-on-approval.command.js';
import { ActOnApprovalHandler } from '../../src/control/approvals/act-on-approval.handler.js';
import { ConsentGround } from '../../src/control/approvals/consent-ground.js';
import { EditToolCall } from '../../src/control/approvals/edit-tool-call.command.js';
import { EditToolCallHandler } from '../../src/control/approvals/edit-tool-call.handler.js';
import { RefuseToolCall } from '../../src/control/approvals/refuse-tool-call.command.js';
import { RefuseToolCallHandler } from '../../src/control/approvals/refuse-tool-call.handler.js';
import {
  GiveStandingRight,
  RevokeStandingRight,
  type DelegationTerms,
  type GrantTerms,
} from '../../src/control/approvals/standing-right.command.js';
import {
  GiveStandingRightHandler,
  RevokeStandingRightHandler,
} from '../../src/control/approvals/standing-right.handlers.js';
import { DecideApproval, type Decision } from '../../src/control/decide-approval/decide-approval.command.js';
import { DecideApprovalHandler } from '../../src/control/decide-approval/decide-approval.handler.js';
import { LostGround } from '../../src/control/decide-approval/lost-ground.js';
import type { JsonObject } from '../../src/domain/json/json-value.js';
import type { Caller } from '../../src/identity/caller.js';
import { ApprovalExpiry } from '../../src/policy/approvals/approval-expiry.js';
import { Dispatcher } from '../../src/proxy/executor/dispatcher.js';
import { APPROVER, callerWith, Installation, TENANT } from './installation.js';
import { settingsWith } from './settings-examples.js';

const FINANCE = [{ group: 'finance', count: 1, notRequester: true }];

/** People around questions about refunds, over an installation in memory. */
export class ApprovalDeskBench {
  readonly installation: Installation;
  readonly deciding: DecideApprovalHandler;
  private readonly acting: ActOnApprovalHandler;

  /** Without `capabilities`: the refund that rests on nothing. */
  constructor(capabilities?: readonly Capability[]) {
    const { policy } = settingsWith();
    const settings = settingsWith({
      policy: {
        ...policy,
        approverGroups: ['finance', 'board'],
        escalationGroups: ['board'],
        breakGlassGroups: ['incident'],
      },
    });
    this.installation = new Installation({ settings, ...(capabilities === undefined ? {} : { capabilities }) });
    const { desk, commands, gate, judge, rejudgement, log } = this.installation;
    const lostGround = new LostGround(desk, new ApprovalExpiry(desk, log), rejudgement);
    this.deciding = new DecideApprovalHandler(desk, commands, gate, judge, lostGround);
    const ground = new ConsentGround(gate, judge, lostGround);
    this.acting = new ActOnApprovalHandler(desk, commands, ground, rejudgement, settings);
  }

  /** A call that people are asked about. */
  asked(rules: readonly object[] = FINANCE, more: object = {}): Promise<string> {
    this.installation.policy.ask({ rules: rules as typeof FINANCE });
    return this.installation.propose(more);
  }

  approval(id: string) {
    return this.installation.approvalOf(id);
  }

  async decide(id: string, caller: Caller = APPROVER, more: Partial<Decision> = {}) {
    const { row, state } = await this.approval(id);
    const word: Decision = {
      approvalId: row.approval_id,
      decision: 'allow',
      digest: state.consentDigest,
      reason: null,
      expectedVersion: null,
      ...more,
    };
    return this.deciding.execute(new DecideApproval(caller, word, null));
  }

  async act(id: string, act: ApprovalAct, caller: Caller = APPROVER) {
    const { row } = await this.approval(id);
    return this.acting.execute(new ActOnApproval(caller, row.approval_id, act, null));
  }

  async breakGlass(id: string, caller: Caller) {
    const { state } = await this.approval(id);
    return this.act(id, { kind: 'break_glass', digest: state.consentDigest, reason: 'fire' }, caller);
  }

  async edit(id: string, args: JsonObject, caller: Caller = APPROVER) {
    const { row, state } = await this.approval(id);
    const { desk, judge, proposing, commands } = this.installation;
    const edited = { digest: state.consentDigest, args, reason: 'half of it' };
    return new EditToolCallHandler(desk, judge, proposing, commands).execute(
      new EditToolCall(caller, row.approval_id, edited),
    );
  }

  refuse(id: string, caller: Caller = APPROVER) {
    const { desk, commands, settings } = this.installation;
    return new RefuseToolCallHandler(desk, commands, settings).execute(new RefuseToolCall(caller, id, 'no', null));
  }

  give(terms: GrantTerms | DelegationTerms, caller: Caller = APPROVER, commandId: string | null = null) {
    const { desk, commands, gate, settings } = this.installation;
    const handler = new GiveStandingRightHandler(desk, commands, gate, settings);
    return handler.execute(new GiveStandingRight(caller, terms, commandId));
  }

  revoke(kind: 'grant' | 'delegation', id: string, caller: Caller = APPROVER) {
    const { desk, commands } = this.installation;
    const command = new RevokeStandingRight(caller, kind, id, null, null);
    return new RevokeStandingRightHandler(desk, commands).execute(command);
  }

  dispatch(id: string) {
    const { desk, gate, judge, rejudgement, leases } = this.installation;
    return new Dispatcher(desk, gate, judge, rejudgement, leases.authority).dispatch(TENANT, id);
  }

  async statusOf(id: string): Promise<string> {
    return (await this.installation.call(id)).state.status;
  }

  get types(): readonly string[] {
    return this.installation.store.lastTypes;
  }
}

export const person = (sub: string, ...groups: string[]): Caller => callerWith({ ...APPROVER, actor: { sub }, groups });

export const codeOf = (word: Promise<unknown>): Promise<unknown> =>
  word.then(
    () => 'recorded',
    (error: { code?: string }) => error.code,
  );
