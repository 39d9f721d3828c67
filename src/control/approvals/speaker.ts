import type { Voter } from '../../domain/approval/approval.commands.js';
import type { Caller } from '../../identity/caller.js';
import type { StoreReader } from '../../storage/readers/store-reader.js';
import type { TableRow } from '../../storage/rows/tables.js';
import type { Guard } from '../../storage/unit.js';

/** Who decides, and what a unit must hold for that to be so when it is written. */
export interface Speaker {
  readonly voter: Voter;
  readonly guards: readonly Guard[];
}

/**
 * The caller as approvals know people: from the token alone, with the standing delegations to them that are in force. Without
 * the role a person is in no group that may decide, and nobody's deputy.
 */
export async function speakerOf(read: StoreReader, caller: Caller, now: string): Promise<Speaker> {
  const voter = voterOf(caller);
  if (caller.isAgent || !caller.roles.includes('approver')) return { voter, guards: [] };
  const rows = (await read.delegationsTo(caller.tenant, voter.sub)).filter(({ until }) => until > now);
  if (rows.length === 0) return { voter, guards: [] };
  const deputyFor = rows.map(({ lent_by, groups }) => ({ from: lent_by, groups: JSON.parse(groups) as string[] }));
  return { voter: { ...voter, deputyFor }, guards: rows.map(stillLent) };
}

export function voterOf(caller: Caller): Voter {
  const groups = caller.roles.includes('approver') ? caller.groups : [];
  return { sub: caller.actor.sub, groups, isAgent: caller.isAgent };
}

function stillLent({ delegation_id, version }: TableRow<'delegations'>): Guard {
  const where = { delegation_id, version, status: 'active', until: { clock: 'after_now' } } as const;
  return { name: 'delegation', table: 'delegations', where, expect: 'present' };
}
