import type { FilesRead } from '../../src/policy/engine/load-policies.js';
import type { LoadReport } from '../../src/policy/engine/policy-set.js';
import type { PolicyService, StandbySet } from '../../src/policy/policy.service.js';

/** Prepares what the folder holds, or the files given, and lets it enter, without anything that is recorded. */
export async function loadInto(policy: PolicyService, given: FilesRead | null = null): Promise<LoadReport> {
  const standby = await policy.prepare(given);
  standby.enter();
  return standby.report;
}

/** A set that stands ready in a spec; `moves` is what became of it. */
export function standbyOf(
  report: LoadReport,
  candidate: StandbySet['candidate'] = null,
): StandbySet & { readonly moves: string[] } {
  const moves: string[] = [];
  return {
    report,
    candidate,
    moves,
    enter: () => void moves.push('entered'),
    leave: async () => void moves.push('left'),
  };
}
