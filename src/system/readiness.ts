/** The stable names of what can be wrong with a process, for alerts and for people. */
export type ReadinessName =
  | 'disk'
  | 'queue'
  | 'restored_store'
  | 'policy'
  | 'clock'
  | 'sweep'
  | 'paused'
  | 'held_capabilities'
  | 'contradicted_calls'
  | 'sink_lag'
  | 'session_logs'
  | 'sink_gone'
  | 'dead_letters'
  | 'key_rotation'
  | 'key_from_environment'
  | 'unattended_permits'
  | 'irrevocable_leases'
  | 'owed_reviews'
  | 'policy_refused'
  | 'policy_folder_differs'
  | 'policy_shadow_refused';

/**
 * `not_ready`: the process can do nothing for anybody, so whatever sends it traffic should stop: its store has failed, or
 * the policy cannot be asked. `degraded`: an operator should look, and most calls go on; a paused tenant, one held
 * capability, a long queue or a slow sink must not take the process, with everybody's approvals and results, out of
 * rotation. `information`: nothing is wrong, and people should know it.
 */
export type ReadinessWeight = 'not_ready' | 'degraded' | 'information';

export interface ReadinessReason {
  readonly name: ReadinessName;
  readonly weight: ReadinessWeight;
  /** One sentence for operators, with nobody's data in it: anybody may read it. */
  readonly detail: string;
  /** What it is about (capabilities, sinks): shown only to callers with a token. */
  readonly about?: readonly string[];
  /** What `about` says is the installation's own (words of its policies): shown only to its operators and auditors. */
  readonly ofInstallation?: true;
}

/** Says why its part cannot do its work now. Asked by every request, so it only looks at memory; empty when all is well. */
export type ReadinessProbe = () => readonly ReadinessReason[];

/** Collects what stands against this process. Every folder adds its own probes. */
export class Readiness {
  private readonly probes: ReadinessProbe[] = [];

  watch(probe: ReadinessProbe): void {
    this.probes.push(probe);
  }

  reasons(): readonly ReadinessReason[] {
    return this.probes.flatMap((probe) => probe());
  }
}
