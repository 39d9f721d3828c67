const PREFIX = 'open_approvals/';

/**
 * The counter of an agent's questions that nobody has decided yet. The agent is the acting one, whoever it acts for;
 * `principal` is a `principalKey`.
 */
export function openApprovalsKey(principal: string): string {
  const [sub, act] = JSON.parse(principal) as readonly string[];
  return openApprovalsOf(act ?? sub ?? '');
}

/** The same by the agent's own name. */
export const openApprovalsOf = (agent: string): string => `${PREFIX}${agent}`;

/** True for the guard of a unit that would have opened one question too many. */
export const isOpenApprovalsGuard = (guard: string): boolean => guard.startsWith(`counter:${PREFIX}`);
