import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadInto } from '../../test/support/loaded-policies.js';
import type { JsonObject } from '../domain/json/json-value.js';
import { payloadProblem } from '../domain/events/payload-shape.js';
import { CATALOGUE } from '../domain/events/catalogue.js';
import type { CanonicalRequest } from './core/canonical-request.js';
import { canonicalRequest } from './core/canonical-request.js';
import type { PolicyDecision, PolicyRequest } from './core/policy-types.js';
import { evaluateWith } from './engine/evaluate.js';
import type { PolicySources } from './engine/load-policies.js';
import { PolicyEvaluator, refusedStandby, type Standby } from './engine/policy-evaluator.js';
import { problem } from './engine/policy-problem.js';
import type { LoadReport, PolicyCandidate, PolicySet } from './engine/policy-set.js';
import { refusedReport } from './engine/policy-set.js';
import { PolicySource } from './engine/policy-source.js';
import { PolicyService, loadEvent } from './policy.service.js';

const SET: PolicySet = {
  revision: 'sha256:r',
  schemaDigest: 'sha256:s',
  engineVersion: 'cedar/x',
  policies: [],
  schema: { '': { entityTypes: {}, actions: {} } },
  capabilities: {},
  approverGroups: [],
  defaults: { decideWithinMs: 1, executionWindowMs: 1 },
};

const REQUEST: PolicyRequest = {
  tenant: 't',
  sub: 'alice',
  roles: [],
  capability: 'c',
  capabilityVersion: '1',
  risk: 'low',
  effect: 'opaque',
  input: {},
  approvals: {},
  attempt: 1,
  reasoningPresent: false,
  allowDuplicateIntent: false,
  nowMs: 0,
};

class ToyEvaluator extends PolicyEvaluator {
  override active: PolicySet | null = SET;
  failing = false;
  stopped = false;
  readonly loads: string[] = [];

  override async decide({ digest }: CanonicalRequest): Promise<PolicyDecision> {
    if (this.failing) throw new Error('secret argument');
    return { ...evaluateWith(null, REQUEST), requestDigest: digest };
  }

  override async prepare({ files }: PolicyCandidate): Promise<Standby> {
    this.loads.push(`begin ${files[0]?.text}`);
    await Promise.resolve();
    this.loads.push(`end ${files[0]?.text}`);
    return refusedStandby(refusedReport([]));
  }

  override async probe(): Promise<boolean> {
    return !this.failing;
  }

  override async stop(): Promise<void> {
    this.stopped = true;
  }
}

class NoFolder extends PolicySource {
  constructor(
    private readonly failing = false,
    private readonly dir = '/nonexistent',
  ) {
    super();
  }

  override current(): PolicySources {
    if (this.failing) throw new Error('settings are gone');
    return { dir: this.dir, approverGroups: [], defaults: SET.defaults, capabilities: [] };
  }
}

function service(source: PolicySource = new NoFolder()) {
  const evaluator = new ToyEvaluator();
  return { evaluator, policy: new PolicyService(evaluator, source) };
}

describe('the policy service', () => {
  it('answers with the digest of the canonical request', async () => {
    const decision = await service().policy.decide(REQUEST);
    expect(decision.requestDigest).toBe(canonicalRequest(REQUEST).digest);
  });

  it('an evaluator that fails is a denial stamped with the set in force, and its words are not repeated', async () => {
    const { evaluator, policy } = service();
    evaluator.failing = true;
    const decision = await policy.decide(REQUEST);
    expect(decision).toMatchObject({
      outcome: 'deny',
      denyCode: 'engine_error',
      engineErrors: ['engine_threw'],
      policyRevision: 'sha256:r',
      requestDigest: canonicalRequest(REQUEST).digest,
    });
    expect(JSON.stringify(decision)).not.toContain('secret');
  });

  it.each([
    ['a bigint', 1n],
    ['half a surrogate pair', '\udc00'],
  ])('a request that is not JSON (%s) is a denial and never reaches the engine', async (_, value) => {
    const { policy } = service();
    const input = { value } as unknown as JsonObject;
    expect(await policy.decide({ ...REQUEST, input })).toMatchObject({
      outcome: 'deny',
      engineErrors: ['request_unreadable'],
      requestDigest: 'none',
    });
  });

  it('says what is in force', () => {
    const { evaluator, policy } = service();
    expect([policy.revision(), policy.schemaDigest()]).toEqual(['sha256:r', 'sha256:s']);
    evaluator.active = null;
    expect([policy.revision(), policy.schemaDigest()]).toEqual([null, null]);
  });

  it('keeps the report of the last reload', async () => {
    const { policy } = service();
    expect(policy.lastReport()).toBeNull();
    const report = await loadInto(policy);
    expect(report.problems.map(({ code }) => code)).toEqual(['unreadable_folder']);
    expect(policy.lastReport()).toBe(report);
  });

  it('reloads happen one after the other, each with what the folder holds by then', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'policies-'));
    const file = join(dir, 'a.cedar');
    await writeFile(file, 'old');
    const { evaluator, policy } = service(new NoFolder(false, dir));
    const first = loadInto(policy);
    const second = first.then(() => writeFile(file, 'new')).then(() => loadInto(policy));
    await Promise.all([first, loadInto(policy), second]);
    await rm(dir, { recursive: true });
    expect(evaluator.loads).toHaveLength(6);
    for (let index = 0; index < 6; index += 2) {
      expect(evaluator.loads[index + 1]).toBe(evaluator.loads[index]?.replace('begin', 'end'));
    }
    expect(evaluator.loads[5]).toBe('end new');
  });

  it('a reload never rejects, even when nobody can say where policies are', async () => {
    const { policy } = service(new NoFolder(true));
    expect((await loadInto(policy)).problems.map(({ code }) => code)).toEqual(['unreadable_folder']);
    expect((await loadInto(policy)).accepted).toBe(false);
  });

  it('stops the evaluator with the application', async () => {
    const { evaluator, policy } = service();
    await policy.onApplicationShutdown();
    expect(evaluator.stopped).toBe(true);
  });
});

describe('the fact a load leaves behind', () => {
  const accepted: LoadReport = {
    accepted: true,
    revision: 'sha256:new',
    schemaDigest: 'sha256:s',
    policyIds: ['a', 'b'],
    problems: [],
    warnings: [],
    unattended: [],
  };

  it('an accepted set is activated', () => {
    const event = loadEvent(accepted, 'sha256:old');
    expect(event).toEqual({
      type: 'policy.activated',
      payload: {
        policyRevision: 'sha256:new',
        schemaDigest: 'sha256:s',
        previousRevision: 'sha256:old',
        policyIds: ['a', 'b'],
      },
    });
    expect(payloadProblem(CATALOGUE['policy.activated'].shape, event?.payload ?? {})).toBeNull();
  });

  it('the same set again is no new fact', () => {
    expect(loadEvent(accepted, 'sha256:new')).toBeNull();
  });

  it('a refused set is a refusal with its problems', () => {
    const event = loadEvent(refusedReport([problem('syntax', 'line 1: no', { file: 'a.cedar' })]), 'sha256:old');
    expect(event).toEqual({
      type: 'policy.activation_refused',
      payload: { problems: [{ code: 'syntax', file: 'a.cedar', policyId: null, message: 'line 1: no' }] },
    });
    expect(payloadProblem(CATALOGUE['policy.activation_refused'].shape, event?.payload ?? {})).toBeNull();
  });
});
