import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const READERS = fileURLToPath(new URL('../../src/storage/readers/', import.meta.url));

/**
 * Questions that go over all tenants on purpose: sweeps and executors, which act for nobody; counts for metrics; what belongs to the
 * installation; evidence of which it is not known yet whose it is. A new one is a decision: say here why it is none of a tenant's.
 */
const OVER_ALL_TENANTS: Readonly<Record<string, string>> = {
  stoppingRuns: 'a worker looks after all runs',
  suspendingRuns: 'a worker looks after all runs',
  idleImplicitRuns: 'a sweep',
  overdueOutcomes: 'a sweep',
  dueWork: 'executors take the work of all',
  nextWorkAt: 'executors take the work of all',
  overdueApprovals: 'a sweep',
  questionsOutsideOf: 'a sweep',
  overdueGrants: 'a sweep',
  planReviewsToClose: 'a sweep',
  overdueAuthorizations: 'a sweep',
  callsInStates: 'a sweep',
  openCallCounts: 'a metric',
  pendingApprovals: 'a metric',
  capability: 'definitions belong to the installation',
  heldCapabilities: 'definitions belong to the installation',
  capabilityVersion: 'definitions belong to the installation',
  activePolicy: 'the policy set belongs to the installation',
  pauses: 'the board keeps the pauses of all and holds each against its tenant',
  meta: 'facts about the store',
  instances: 'processes',
  sinkCursor: 'sinks belong to the installation',
  sinkCursors: 'sinks belong to the installation',
  parkedDeliveries: 'sinks belong to the installation',
  parkedBeyond: 'sinks belong to the installation',
  deadLetters: 'sinks belong to the installation',
  sinkBacklog: 'sinks belong to the installation',
  streamVersion: 'the events of an installation’s stream belong to whoever acted',
  lateResult: 'whose evidence is, is known only with its call',
  waitingLateResults: 'whose evidence is, is known only with its call',
  callsWithWaitingResults: 'a worker',
  unmatchedLateResults: 'whose evidence is, is known only with its call',
  matchableLateResults: 'a worker',
  unmatchedBefore: 'a sweep',
  callAnywhere: 'evidence that is signed by its tool',
  callOfKey: 'evidence that is signed by its tool',
  callsByReference: 'evidence that is signed by its tool',
  contradictedCount: 'a metric',
  decisionsIn: 'a preview of the installation’s policy looks at the decisions of all',
  endedCounters: 'a sweep',
  openPolicyActivations: 'the policy set belongs to the installation',
  policyActivation: 'the policy set belongs to the installation',
  policySet: 'the policy set belongs to the installation',
  policyShadow: 'the policy set belongs to the installation',
  shadowDifferences: 'the policy set belongs to the installation',
  shadowFlips: 'the policy set belongs to the installation',
  shadowSequence: 'the policy set belongs to the installation',
  revokedTokens: 'the verifier holds every token against all of them',
};

interface Method {
  readonly name: string;
  readonly parameters: string;
}

/** The methods of the interfaces that say what may be asked of the store. */
function methodsOf(text: string): readonly Method[] {
  return [...text.matchAll(/^ {2}(\w+)\(([^)]*)\): Promise</gms)].map(([, name = '', parameters = '']) => ({
    name,
    parameters,
  }));
}

const files = readdirSync(READERS).filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'));
const texts = files.map((file) => ({ file, text: readFileSync(READERS + file, 'utf8') }));
const methods = texts
  .filter(({ file }) => file === 'store-reader.ts' || file.endsWith('-records.ts'))
  .flatMap(({ text }) => methodsOf(text));

/** Lists take their tenant in the query. */
const takesTenant = ({ parameters }: Method): boolean => /\btenant\b|: \w+ListQuery\b/.test(parameters);

/** What a reader does under this name, to the next method. */
function bodyOf(name: string): string {
  const bodies = texts.flatMap(({ text }) => {
    const start = text.search(new RegExp(`^ {2,4}(?:async )?${name}(?:: |\\()`, 'm'));
    if (start === -1 || /^ {2}\w+\([^)]*\): Promise</m.test(text.slice(start, start + 200))) return [];
    const rest = text.slice(start + 1);
    const end = rest.search(/^ {2,4}(?:async )?\w+(?:: (?:async )?\(|\()/m);
    return [end === -1 ? rest : rest.slice(0, end)];
  });
  return bodies.join('\n');
}

describe('questions to the store', () => {
  it('take a tenant, unless they are on the list of those that go over all', () => {
    expect(methods.length).toBeGreaterThan(50);
    const without = methods.filter((method) => !takesTenant(method)).map(({ name }) => name);
    expect(without.toSorted()).toEqual(Object.keys(OVER_ALL_TENANTS).toSorted());
  });

  it('that take a tenant use it in what they ask', () => {
    const unused = methods.filter(takesTenant).filter(({ name }) => {
      const body = bodyOf(name);
      return body !== '' && !/tenant|query/.test(body.replace(/^[^=]*=>/, ''));
    });
    expect(unused.map(({ name }) => name)).toEqual([]);
  });

  it('would be found without one', () => {
    expect(
      methodsOf('export interface X {\n  callsOfRun(runId: string): Promise<null>;\n}').filter(
        (one) => !takesTenant(one),
      ),
    ).toHaveLength(1);
    expect(
      methodsOf(
        'export interface X {\n  callsOfRun(\n    tenant: string,\n    runId: string,\n  ): Promise<null>;\n}',
      ).filter(takesTenant),
    ).toHaveLength(1);
  });
});
