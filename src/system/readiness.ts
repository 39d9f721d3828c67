/** Says why its part cannot do its work now: words for operators, without anybody's data. Empty when it can. */
export type ReadinessProbe = () => readonly string[];

/** Collects the reasons for which this process should not get traffic. */
export class Readiness {
  private readonly probes: ReadinessProbe[] = [];

  watch(probe: ReadinessProbe): void {
    this.probes.push(probe);
  }

  reasons(): readonly string[] {
    return this.probes.flatMap((probe) => probe());
  }
}
