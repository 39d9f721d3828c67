import { readFile, readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { argsDigest } from '../../../src/domain/digests/digests.js';
import { canonicalRequest } from '../../../src/policy/core/canonical-request.js';
import type { PolicyDecision, PolicyRequest } from '../../../src/policy/core/policy-types.js';
import { InProcessPolicyEvaluator } from '../../../src/policy/engine/in-process-policy-evaluator.js';
import { loadPolicies } from '../../../src/policy/engine/load-policies.js';
import type { GovernedCapability } from '../../../src/policy/engine/schema.js';

const EXAMPLE = new URL('../../../examples/refunds/', import.meta.url);
const FAMILY = new URL('policies-full/', EXAMPLE);
const NOON = Date.parse('2031-03-04T12:00:00.000Z');

interface Case {
  readonly name: string;
  readonly capability: string;
  readonly request: Partial<PolicyRequest> & { readonly at?: string };
  readonly expect: {
    readonly outcome: string;
    readonly reasons?: readonly string[];
    readonly determining?: readonly string[];
    readonly quorum?: Readonly<Record<string, number>>;
  };
}

const CASES = parse(await readFile(new URL('refunds.cases.yaml', FAMILY), 'utf8')) as readonly Case[];
const CAPABILITIES = await manifests();

let evaluator: InProcessPolicyEvaluator;

beforeAll(async () => {
  evaluator = await InProcessPolicyEvaluator.create();
  const report = await loadPolicies(evaluator, {
    dir: FAMILY.pathname,
    approverGroups: ['support-lead', 'finance'],
    defaults: { decideWithinMs: 86_400_000, executionWindowMs: 900_000 },
    capabilities: CAPABILITIES,
  });
  expect(report).toMatchObject({ accepted: true, problems: [], warnings: [] });
});

afterAll(() => evaluator.stop());

async function manifests(): Promise<readonly GovernedCapability[]> {
  const dir = new URL('capabilities/', EXAMPLE);
  const names = (await readdir(dir)).filter((name) => name.endsWith('.yaml'));
  return Promise.all(
    names.map(async (name) => {
      const manifest = parse(await readFile(new URL(name, dir), 'utf8')) as GovernedCapability;
      return { ...manifest, personal: manifest.personal ?? [] };
    }),
  );
}

function requestOf({ capability: name, request: { at, ...said } }: Case): PolicyRequest {
  const capability = CAPABILITIES.find((each) => each.name === name);
  if (capability === undefined) throw new Error(`no capability is named ${name}`);
  const { version, risk, effect } = capability;
  return {
    tenant: 'acme',
    sub: 'sam',
    roles: [],
    capability: name,
    capabilityVersion: version,
    risk,
    effect,
    input: {},
    approvals: {},
    attempt: 1,
    reasoningPresent: false,
    allowDuplicateIntent: false,
    nowMs: at === undefined ? NOON : Date.parse(at),
    ...said,
  };
}

const decide = (request: PolicyRequest): Promise<PolicyDecision> => evaluator.decide(canonicalRequest(request));

const quorumOf = ({ obligations }: PolicyDecision): Record<string, number> =>
  Object.fromEntries((obligations?.rules ?? []).map(({ group, count }) => [group, count]));

describe('the refund policy family', () => {
  it.each(CASES.map((each) => [each.name, each] as const))('%s', async (_, given) => {
    const decision = await decide(requestOf(given));
    const { outcome, reasons, determining, quorum } = given.expect;
    expect(decision.outcome).toBe(outcome);
    if (reasons !== undefined) expect(decision.reasons).toEqual(reasons);
    if (determining !== undefined) expect(decision.determining).toEqual(determining);
    if (quorum !== undefined) expect(quorumOf(decision)).toEqual(quorum);
  });

  it('has a case for every policy it consists of', async () => {
    const named = new Set(CASES.flatMap((each) => each.expect.determining ?? []));
    const ids = (evaluator.active?.policies ?? []).map(({ annotations }) => annotations.id);
    expect(ids.filter((id) => !named.has(id))).toEqual([]);
  });

  it('takes both budgets from whatever it lets through or asks about, and none from what it denies', async () => {
    const permitted = CASES.filter(
      ({ capability, expect: { outcome } }) => capability === 'refund.create' && outcome !== 'deny',
    );
    expect(permitted.length).toBeGreaterThan(5);
    for (const each of permitted) {
      const { reservations = [] } = await decide(requestOf(each));
      expect(reservations.map(({ add, max }) => [add, max])).toEqual([
        [1, 20],
        [each.request.input?.['amountMinor'], 50_000],
      ]);
    }
    for (const each of CASES.filter(({ expect: { outcome } }) => outcome === 'deny')) {
      expect((await decide(requestOf(each))).reservations).toBeUndefined();
    }
  });

  it('is judged anew for other arguments: what people have said is bound to the digest of the arguments', () => {
    const [shown, sent] = [
      { orderId: 'o-1', amountMinor: 25_000 },
      { orderId: 'o-1', amountMinor: 25_001 },
    ];
    expect(argsDigest(sent)).not.toBe(argsDigest(shown));
    expect(argsDigest({ amountMinor: 25_000, orderId: 'o-1' })).toBe(argsDigest(shown));
  });
});
