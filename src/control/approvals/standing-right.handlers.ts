import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CapabilityGate } from '../../capabilities/capability-gate.js';
import { Settings } from '../../config/settings.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ID_PREFIXES } from '../../domain/ids/ids.js';
import { parsePointer } from '../../domain/json/json-pointer.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { StandingCommand } from '../../domain/standing/standing.commands.js';
import { hasRole, type Caller } from '../../identity/caller.js';
import {
  changeStanding,
  loadStanding,
  standingToBe,
  type StandingBefore,
} from '../../storage/units/standing-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { AlreadyDone, CommandLog } from '../command-log.js';
import { mustBeAPerson } from './deputy.js';
import { voterOf } from './speaker.js';
import {
  GiveStandingRight,
  RevokeStandingRight,
  type DelegationTerms,
  type GrantTerms,
} from './standing-right.command.js';

interface Given {
  readonly id: string;
  readonly commandId: string;
}

@CommandHandler(GiveStandingRight)
export class GiveStandingRightHandler implements ICommandHandler<GiveStandingRight> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
    private readonly gate: CapabilityGate,
    private readonly settings: Settings,
  ) {}

  async execute({ caller, terms, commandId }: GiveStandingRight): Promise<Given> {
    const { kind } = terms;
    let id = this.desk.newId(kind === 'grant' ? ID_PREFIXES.grant : ID_PREFIXES.delegation);
    const { kind: _, ...details } = terms;
    const asked = {
      type: kind === 'grant' ? 'create_grant' : 'create_delegation',
      target: {},
      details: details as unknown as JsonObject,
      commandId,
    };
    const { commandId: carried } = await this.log.carryOut(caller, asked, async (start, now) => {
      if (kind === 'delegation') await mustBeAPerson(this.desk.read, caller.tenant, terms.to);
      const command = kind === 'grant' ? this.grant(caller, terms, now) : this.lend(caller, terms, now);
      const draft = start({ correlationId: id });
      changeStanding(draft, standingToBe(kind, caller.tenant, id, now), command);
      return draft;
    });
    // The same command sent again made nothing new: it answers with what it made the first time.
    id = (await this.madeBy(caller, carried, kind)) ?? id;
    return { id, commandId: carried };
  }

  private grant(caller: Caller, terms: GrantTerms, now: string): StandingCommand {
    if (this.gate.get(terms.capability) === undefined) {
      throw new CountersignError('capability_unknown', 'no capability of this name is in force', {
        pointer: '/capability',
      });
    }
    const wrong = Object.keys(terms.argumentsEqual ?? {}).some((pointer) => parsePointer(pointer) === null);
    if (wrong) {
      throw new CountersignError('invalid_request', 'a key is no JSON pointer', { pointer: '/argumentsEqual' });
    }
    return { ...terms, kind: 'grant', holder: this.holder(caller), msMax: this.settings.policy.grantMsMax, now };
  }

  private lend(caller: Caller, terms: DelegationTerms, now: string): StandingCommand {
    const holder = this.holder(caller);
    const groups = terms.groups ?? holder.groups;
    const { to, until, reason } = terms;
    return { kind: 'delegate', holder, to, groups, until, reason, msMax: this.settings.policy.delegationMsMax, now };
  }

  /** Only groups that the installation asks are anybody's to give. */
  private holder(caller: Caller): ReturnType<typeof voterOf> {
    const voter = voterOf(caller);
    return { ...voter, groups: voter.groups.filter((group) => this.settings.policy.approverGroups.includes(group)) };
  }

  private async madeBy(caller: Caller, commandId: string, kind: 'grant' | 'delegation'): Promise<string | null> {
    const row = await this.desk.read.command(caller.tenant, commandId);
    const accepted = row === null ? null : await this.desk.read.event(caller.tenant, row.event_id);
    if (accepted === null) return null;
    for (const eventId of await this.desk.read.unitEventIds(caller.tenant, accepted.envelope.unitId)) {
      const event = await this.desk.read.event(caller.tenant, eventId);
      if (event?.envelope.streamKind === kind) return event.envelope.streamId;
    }
    return null;
  }
}

@CommandHandler(RevokeStandingRight)
export class RevokeStandingRightHandler implements ICommandHandler<RevokeStandingRight> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly log: CommandLog,
  ) {}

  async execute({ caller, kind, id, reason, commandId }: RevokeStandingRight): Promise<Given> {
    const asked = {
      type: kind === 'grant' ? 'revoke_grant' : 'revoke_delegation',
      target: { id },
      details: { reason },
      commandId,
    };
    const { commandId: carried } = await this.log.carryOut(caller, asked, async (start) => {
      const before = await loadStanding(this.desk.read, kind, caller.tenant, id);
      if (before === null) throw new CountersignError('not_found', `there is no such ${kind}`);
      const mayRevokeOthers = hasRole(caller, 'operator') || isOfItsGroup(caller, before);
      if (before.state?.status === 'revoked' && before.state.revokedBy === caller.actor.sub)
        throw new AlreadyDone(null);
      const draft = start({ correlationId: id });
      changeStanding(draft, before, { kind: 'revoke', holder: voterOf(caller), mayRevokeOthers, reason });
      return draft;
    });
    return { id, commandId: carried };
  }
}

/** Whoever may give an allow in a group may end one that stands there. */
function isOfItsGroup(caller: Caller, { state }: StandingBefore): boolean {
  return state?.right.kind === 'grant' && voterOf(caller).groups.includes(state.right.group);
}
