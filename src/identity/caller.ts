import type { Actor } from '../domain/events/envelope.js';
import { requesterSubjects } from '../domain/principal.js';

export const ROLES = ['harness', 'approver', 'operator', 'auditor', 'connector', 'feedback'] as const;
export type Role = (typeof ROLES)[number];

/** Who is calling, from a verified token alone; nothing of it is ever taken from a request body. */
export interface Caller {
  readonly tenant: string;
  readonly actor: Actor;
  readonly roles: readonly Role[];
  /** Approver groups the person is in now, from the token's `groups` claim. */
  readonly groups: readonly string[];
  /** The person who answers for the acting agent, from the `agent_owner` claim; null when the token names none. */
  readonly agentOwner: string | null;
  /** True for a token with `act` or with role `harness`: it can never decide an approval. */
  readonly isAgent: boolean;
}

/** Everybody who counts as the requester when an approver must be somebody else (decision on subjects). */
export function requesters(caller: Caller): readonly string[] {
  const subjects = new Set(requesterSubjects(caller.actor));
  if (caller.agentOwner !== null) subjects.add(caller.agentOwner);
  return [...subjects];
}

/** Roles an agent's own credential can use, whatever else its token says: it never decides, operates or audits. */
const AGENT_ROLES: readonly Role[] = ['harness', 'connector', 'feedback'];

export function hasRole(caller: Caller, ...roles: readonly Role[]): boolean {
  return roles.some((role) => caller.roles.includes(role) && (!caller.isAgent || AGENT_ROLES.includes(role)));
}
