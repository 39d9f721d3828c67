import type {
  AuthorizationAnswer,
  CheckParseAnswer,
  PolicySet as CedarPolicySet,
  Schema,
} from '@cedar-policy/cedar-wasm/nodejs';
import type { PolicyAnnotations } from '../core/annotations.js';
import type { EngineAnswer } from '../core/decide.js';
import type { ApprovalFacts } from '../core/obligations.js';
import type { PolicyRequest } from '../core/policy-types.js';
import type { Cedar } from './cedar-module.js';
import { engineVersionOf } from './cedar-module.js';
import type { EncodedRequest } from './encode-request.js';
import { encodeApprovals, encodeRequest, lacksEntity } from './encode-request.js';
import type { PreparedSet } from './policy-engine.js';
import { PolicyEngine } from './policy-engine.js';
import type { PolicyProblem } from './policy-problem.js';
import { problem } from './policy-problem.js';
import type { PolicySet } from './policy-set.js';
import { schemaOfActions } from './schema.js';
import { selfTestPasses, selfTestSet } from './self-test.js';
import { shardFor } from './shards.js';

/**
 * Cedar in WebAssembly. Policies and schema are parsed once, per capability, into one of two slots; an evaluation names the slot.
 *
 * What it never does: evaluate without schema and request validation, send an entity list without the principal and the
 * resource, or take an answer with errors in it for an answer. Error texts are dropped, because they repeat values of the request.
 */
export class CedarEngine extends PolicyEngine {
  override readonly version: string;
  private inForce: CedarSet | null = null;
  private standby: 'a' | 'b' = 'a';
  private readonly instance: CedarInstance;
  private readonly selfTestSet: CedarSet;

  /**
   * Parsed sets are the thread's, by name: two engines on one thread need two names. Throws a plain `Error` when the engine cannot even
   * prepare its self-test.
   */
  constructor(
    cedar: Cedar,
    private readonly name = 'serving',
  ) {
    super();
    this.version = engineVersionOf(cedar);
    this.instance = new CedarInstance(cedar);
    this.selfTestSet = new CedarSet(this.instance, `${name}-self-test`, selfTestSet(cedar));
    if (this.selfTestSet.prepare().length > 0) throw new Error('the policy engine refuses its self-test policies');
  }

  override get active(): PreparedSet | null {
    return this.inForce;
  }

  override get dead(): boolean {
    return this.instance.dead;
  }

  override activate(set: PolicySet): readonly PolicyProblem[] {
    const candidate = new CedarSet(this.instance, `${this.name}-${this.standby}`, set);
    const problems = candidate.prepare();
    if (problems.length > 0) return problems;
    if (!this.selfTest()) return [problem('self_test', 'the engine answers its self-test wrongly')];
    this.inForce = candidate;
    this.standby = this.standby === 'a' ? 'b' : 'a';
    return [];
  }

  override selfTest(): boolean {
    return selfTestPasses(this.selfTestSet);
  }

  /** For whoever saw the instance crash in other hands. */
  declareDead(): void {
    this.instance.dead = true;
  }
}

/** The WebAssembly instance of this thread. After a trap its memory cannot be trusted: it is dead for good. */
class CedarInstance {
  dead = false;

  constructor(private readonly cedar: Cedar) {}

  parse(run: (cedar: Cedar) => CheckParseAnswer): boolean {
    return this.guarded(run)?.type === 'success';
  }

  /** Null: it threw. */
  authorize(run: (cedar: Cedar) => AuthorizationAnswer): AuthorizationAnswer | null {
    return this.guarded(run);
  }

  private guarded<T>(run: (cedar: Cedar) => T): T | null {
    if (this.dead) return null;
    try {
      return run(this.cedar);
    } catch (error) {
      // A plain `Error` is the binding refusing a value before the engine runs; a trap and an exhausted stack have names of their own.
      if (!(error instanceof Error) || error.name !== 'Error') this.dead = true;
      return null;
    }
  }
}

class CedarSet implements PreparedSet {
  readonly annotations: ReadonlyMap<string, PolicyAnnotations>;

  constructor(
    private readonly instance: CedarInstance,
    private readonly slot: string,
    readonly set: PolicySet,
  ) {
    this.annotations = new Map(set.policies.map(({ annotations }) => [annotations.id, annotations]));
  }

  prepare(): PolicyProblem[] {
    const refused = Object.keys(this.set.capabilities).filter((capability) => !this.prepareShard(capability));
    if (this.instance.dead) return [problem('engine_crashed', 'the engine crashed while it parsed the policies')];
    return refused.map((capability) => problem('syntax', `the engine refuses the policies about ${capability}`));
  }

  evaluation(request: PolicyRequest): (approvals: ApprovalFacts) => EngineAnswer {
    const { capability, capabilityVersion } = request;
    const own = Object.hasOwn(this.set.capabilities, capability) ? this.set.capabilities[capability] : undefined;
    if (own === undefined) return () => failed('unknown_capability');
    if (own.version !== capabilityVersion) return () => failed('capability_version_mismatch');
    const encoded = readable(() => encodeRequest(request, own.shape, own.needs));
    if (encoded === null) return () => failed('request_unreadable');
    if (lacksEntity(encoded)) return () => failed('entity_missing');
    return (approvals) => this.answer(encoded, this.nameOf(capability), approvals);
  }

  private answer(encoded: EncodedRequest, name: string, approvals: ApprovalFacts): EngineAnswer {
    const votes = readable(() => encodeApprovals(approvals, this.set.approverGroups));
    if (votes === null) return failed('request_unreadable');
    if (this.instance.dead) return failed('engine_dead');
    const answer = this.instance.authorize((cedar) =>
      cedar.statefulIsAuthorized({
        principal: encoded.principal,
        action: encoded.action,
        resource: encoded.resource,
        context: { ...encoded.context, approvals: votes },
        entities: [...encoded.entities],
        preparsedSchemaName: name,
        preparsedPolicySetId: name,
        validateRequest: true,
      }),
    );
    if (answer === null) return failed(this.instance.dead ? 'engine_trapped' : 'engine_threw');
    return understood(answer);
  }

  private prepareShard(capability: string): boolean {
    const name = this.nameOf(capability);
    const schema = schemaOfActions(this.set.schema, [capability]);
    const policies = shardFor(capability, this.set.policies).map(
      ({ annotations, text }) => [annotations.id, text] as const,
    );
    const staticPolicies: CedarPolicySet = { staticPolicies: Object.fromEntries(policies) };
    return (
      this.instance.parse((cedar) => cedar.preparseSchema(name, schema as unknown as Schema)) &&
      this.instance.parse((cedar) => cedar.preparsePolicySet(name, staticPolicies))
    );
  }

  private nameOf(capability: string): string {
    return `${this.slot}/${capability}`;
  }
}

/**
 * A policy that fails is skipped by Cedar, a forbid like any other, so one error makes the whole answer worthless.
 */
function understood(answer: AuthorizationAnswer): EngineAnswer {
  if (answer.type !== 'success') return failed('engine_failure');
  const { decision, diagnostics } = answer.response;
  if (diagnostics.errors.length > 0) {
    return { kind: 'failed', errors: diagnostics.errors.map(({ policyId }) => `policy_error:${policyId}`).toSorted() };
  }
  return { kind: decision, determining: diagnostics.reason };
}

function failed(code: string): EngineAnswer {
  return { kind: 'failed', errors: [code] };
}

/** Whatever keeps a request from being put into the engine's words, the engine is not asked. */
function readable<T>(encode: () => T): T | null {
  try {
    return encode();
  } catch {
    return null;
  }
}
