import type { Capability } from '../../src/capabilities/manifest.js';
import { canonicalRequest } from '../../src/policy/core/canonical-request.js';
import { InProcessPolicyEvaluator } from '../../src/policy/engine/in-process-policy-evaluator.js';
import type { PolicyEvaluator } from '../../src/policy/engine/policy-evaluator.js';
import type { PolicyCandidate, PolicyFile } from '../../src/policy/engine/policy-set.js';
import { PolicySource } from '../../src/policy/engine/policy-source.js';
import { CaseFile } from '../../src/policy/case-file.js';
import { DecisionReplay } from '../../src/policy/life/decision-replay.js';
import { PolicyPreview } from '../../src/policy/life/policy-preview.js';
import { RecordedDecisions } from '../../src/policy/life/recorded-decisions.js';
import { StoredSets } from '../../src/policy/life/stored-sets.js';
import { TrialEngines } from '../../src/policy/life/trial-engines.js';
import { PolicyActivation } from '../../src/policy/policy-activation.js';
import { PolicyService } from '../../src/policy/policy.service.js';
import { Installation, refundCapability } from './installation.js';

let engines = 0;
const nextEngine = (): Promise<InProcessPolicyEvaluator> => InProcessPolicyEvaluator.create(`world-${(engines += 1)}`);

/** Trials on the caller's own thread; `spare` engines are made beforehand for what starts one without waiting. */
export class NearTrials extends TrialEngines {
  readonly spare: InProcessPolicyEvaluator[] = [];
  ran = 0;

  override async run<T>(candidate: PolicyCandidate, work: Parameters<TrialEngines['run']>[1]): Promise<T> {
    this.ran += 1;
    const engine = await nextEngine();
    const report = await engine.load(candidate);
    return (await work({ report, decide: (request) => engine.decide(canonicalRequest(request)) })) as T;
  }

  override start(): PolicyEvaluator {
    const engine = this.spare.pop();
    if (engine === undefined) throw new Error('no engine was made beforehand');
    return engine;
  }

  async makeSpare(): Promise<void> {
    this.spare.push(await nextEngine());
  }
}

/** An installation in memory that is judged by the real engine, and everything about the life of its policy sets. */
export class PolicyWorld {
  readonly installation: Installation;
  readonly trials: NearTrials;
  readonly sets: StoredSets;
  readonly service: PolicyService;
  readonly activation: PolicyActivation;
  readonly decisions: RecordedDecisions;
  readonly replay: DecisionReplay;
  readonly preview: PolicyPreview;

  private constructor(
    readonly capabilities: readonly Capability[],
    readonly engine: InProcessPolicyEvaluator,
    readonly defaults: PolicyCandidate['defaults'],
  ) {
    this.installation = new Installation({ capabilities });
    const { desk, settings, log, policy, store } = this.installation;
    this.trials = new NearTrials(settings, log);
    this.sets = new StoredSets(desk);
    this.service = new PolicyService(engine, new Sources(this));
    this.activation = new PolicyActivation(desk, this.service, this.sets);
    this.decisions = new RecordedDecisions(desk);
    this.replay = new DecisionReplay(desk, this.decisions, this.sets, this.trials);
    this.preview = new PolicyPreview(desk, this.decisions, new CaseFile(store), this.trials);
    policy.decide = (request) => this.service.decide(request);
    policy.revision = () => this.service.revision();
  }

  static async with(
    text: string,
    { capabilities = [refundCapability()] }: { readonly capabilities?: readonly Capability[] } = {},
  ): Promise<PolicyWorld> {
    const defaults = { decideWithinMs: 3_600_000, executionWindowMs: 900_000 };
    const world = new PolicyWorld(capabilities, await nextEngine(), defaults);
    await world.activate(text);
    return world;
  }

  async activate(text: string): Promise<string> {
    const report = await this.activation.activate({ files: [fileOf(text)], problems: [] });
    return report.revision ?? '';
  }

  candidate(text: string): PolicyCandidate {
    return { files: [fileOf(text)], ...new Sources(this).current() };
  }

  /** What is recorded of decisions, in order. */
  get recorded(): readonly string[] {
    return this.installation.store.events
      .filter(({ envelope }) => envelope.eventType === 'policy.decided')
      .map(({ envelope }) => envelope.policyDecisionId ?? '');
  }
}

const fileOf = (text: string): PolicyFile => ({ name: 'world.cedar', text });

class Sources extends PolicySource {
  constructor(private readonly world: PolicyWorld) {
    super();
  }

  override current() {
    return {
      dir: '/nowhere',
      approverGroups: ['finance', 'support-lead'],
      defaults: this.world.defaults,
      capabilities: this.world.capabilities.map(({ manifest }) => manifest),
    };
  }
}
