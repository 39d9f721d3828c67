import type { DomainEvent } from '../events/catalogue.js';
import { isIn } from '../events/domain-event.js';
import { readTexts } from '../events/payload-reading.js';
import type { JsonObject } from '../json/json-value.js';
import type { StandingState } from './standing.state.js';

/** The state after one more event. Never judges; throws a plain `Error` for an event that cannot come here. */
export function evolveStanding(state: StandingState | null, event: DomainEvent): StandingState {
  if (!isIn('grant', event) && !isIn('delegation', event)) throw new Error(`${event.type} is not of a standing right`);
  switch (event.type) {
    case 'grant.created': {
      const { by, capability, group, principalSub = null, principalAct = null, until } = event.payload;
      const right = { kind: 'grant' as const, capability, group, principalSub, principalAct };
      return { right, by: subOf(by), until, status: 'active', revokedBy: null };
    }
    case 'delegation.created': {
      const { by, to, groups, until } = event.payload;
      const right = { kind: 'delegation' as const, to, groups: readTexts(groups) };
      return { right, by: subOf(by), until, status: 'active', revokedBy: null };
    }
    case 'grant.revoked':
    case 'delegation.revoked':
      return { ...begun(state, event), status: 'revoked', revokedBy: subOf(event.payload.by) };
    case 'grant.expired':
    case 'delegation.expired':
      return { ...begun(state, event), status: 'expired' };
  }
}

export function foldStanding(events: readonly DomainEvent[]): StandingState | null {
  return events.reduce<StandingState | null>(evolveStanding, null);
}

function begun(state: StandingState | null, event: DomainEvent): StandingState {
  if (state === null) throw new Error(`${event.type} cannot be the first event of a standing right`);
  return state;
}

function subOf(by: JsonObject): string {
  if (typeof by['sub'] !== 'string') throw new Error('a standing right has an owner');
  return by['sub'];
}
