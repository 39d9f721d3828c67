import type { Actor } from './events/envelope.js';

/** The principal of a run and of its calls: the requester and the agent that acts for them. */
export interface Principal {
  readonly sub: string;
  /** The acting agent's own subject; absent when a person or service acts for itself. */
  readonly act?: string;
}

/** The principal of an actor: `{sub, act.sub}`, so a replaced harness of the same agent meets its own keys. */
export function principalOf(actor: Actor): Principal {
  return actor.act === undefined ? { sub: actor.sub } : { sub: actor.sub, act: actor.act.sub };
}

/** One text per principal, injective, used as a column value and in digests. */
export function principalKey(principal: Principal): string {
  return JSON.stringify(principal.act === undefined ? [principal.sub] : [principal.sub, principal.act]);
}

/** Everybody who counts as the requester: `sub` and every `act` in the chain. */
export function requesterSubjects(actor: Actor): readonly string[] {
  const chain: string[] = [];
  for (let at: Actor | undefined = actor; at !== undefined; at = at.act) chain.push(at.sub);
  return chain;
}
