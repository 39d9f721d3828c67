import { refuse, type Refusal } from '../errors/error-codes.js';
import { decided, type Decided } from '../events/decided.js';
import type { EventIn } from '../events/domain-event.js';
import { isBefore, millisOf } from '../events/instant.js';
import type { StandingCommand, StandingCommandOf } from './standing.commands.js';
import type { StandingState } from './standing.state.js';

export type StandingEvent = EventIn<'grant' | 'delegation'>;
export type DecidedStanding = Decided<StandingEvent>;

/**
 * A right that stands until a time: made by the person whose right it is, taken back at once, over as an event. Groups are
 * those of the maker's token at the time.
 */
export function decideStanding(state: StandingState | null, command: StandingCommand): DecidedStanding {
  switch (command.kind) {
    case 'grant':
      return state === null ? grant(command) : refuse('duplicate_id', 'A grant with this id exists.');
    case 'delegate':
      return state === null ? lend(command) : refuse('duplicate_id', 'A delegation with this id exists.');
    case 'revoke':
      return state === null ? absent() : revoke(state, command);
    case 'expire':
      return state === null ? absent() : expire(state, command.now);
  }
}

function grant(command: StandingCommandOf<'grant'>): DecidedStanding {
  const { holder, capability, group, principalSub, principalAct, argumentsEqual, until, reason } = command;
  if (holder.isAgent) return agentRefusal();
  if (!holder.groups.includes(group)) return notYours();
  if ([principalSub, principalAct].includes(holder.sub)) {
    return refuse('approver_not_allowed', 'Nobody gives a standing allow to their own requests.');
  }
  const untimely = outOfTime(command);
  if (untimely !== null) return untimely;
  const by = { sub: holder.sub };
  const payload = { by, capability, group, principalSub, principalAct, argumentsEqual, until, reason };
  return decided({ type: 'grant.created', payload });
}

function lend(command: StandingCommandOf<'delegate'>): DecidedStanding {
  const { holder, to, groups, until, reason } = command;
  if (holder.isAgent) return agentRefusal();
  if (groups.length === 0 || !groups.every((group) => holder.groups.includes(group))) return notYours();
  if (to === holder.sub) return refuse('delegate_not_allowed', 'A right is lent to another person.');
  const untimely = outOfTime(command);
  if (untimely !== null) return untimely;
  return decided({ type: 'delegation.created', payload: { by: { sub: holder.sub }, to, groups, until, reason } });
}

function revoke(
  state: StandingState,
  { holder, mayRevokeOthers, reason }: StandingCommandOf<'revoke'>,
): DecidedStanding {
  if (holder.isAgent) return agentRefusal();
  if (state.by !== holder.sub && !mayRevokeOthers) return notYours();
  if (state.status !== 'active') return ended(state);
  return decided({ type: `${state.right.kind}.revoked`, payload: { by: { sub: holder.sub }, reason } });
}

function expire(state: StandingState, now: string): DecidedStanding {
  if (state.status !== 'active') return ended(state);
  if (isBefore(now, state.until)) return refuse('version_stale', 'Its time is not over.');
  return decided({ type: `${state.right.kind}.expired`, payload: { deadline: state.until, noticedAt: now } });
}

function outOfTime(command: { readonly until: string; readonly now: string; readonly msMax: number }): Refusal | null {
  const ms = millisOf(command.until) - millisOf(command.now);
  if (ms <= 0) return refuse('invalid_timestamp', 'It would be over already.');
  return ms > command.msMax ? refuse('invalid_timestamp', 'It would stand longer than the installation allows.') : null;
}

const absent = (): Refusal => refuse('not_found', 'There is no such standing right.');
const ended = (state: StandingState): Refusal => refuse('standing_right_ended', `It is ${state.status}.`);
const notYours = (): Refusal => refuse('approver_not_allowed', 'You can give, and take back, your own right only.');
const agentRefusal = (): Refusal => refuse('approver_not_allowed', "An agent's own credential can never decide.");
