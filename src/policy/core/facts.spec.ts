import { describe, expect, it } from '@jest/globals';
import { FACT_NAMES, hasFacts, withoutFacts, type ServerFacts } from './facts.js';

const BARE = { tenant: 'acme', sub: 'alice', nowMs: 5 };
const GATHERED: Required<ServerFacts> = {
  counters: { 'spend.day': 1 },
  environment: 'production',
  time: { hour: 1, minute: 2, weekday: 3, dayOfMonth: 4, month: 5 },
  riskScore: 6,
  riskInputs: { denials: { byPeople: 0, byPolicy: 0 }, firstUse: true },
  previousDenials: { byPeople: 0, byPolicy: 0 },
  agentSuspended: false,
  compensation: false,
  runId: 'run_1',
};

describe('a recorded request', () => {
  it('without its facts is what was asked, and nothing of that moment', () => {
    expect(withoutFacts({ ...BARE, ...GATHERED })).toEqual(BARE);
    expect(withoutFacts(BARE)).toEqual(BARE);
  });

  it.each(Object.keys(GATHERED))('is known to hold facts by %s alone', (name) => {
    expect(hasFacts({ ...BARE, [name]: GATHERED[name as keyof ServerFacts] })).toBe(true);
  });

  it('that nothing was gathered for holds none', () => {
    expect(hasFacts(BARE)).toBe(false);
  });

  it('can hold every fact that policies can read', () => {
    expect(FACT_NAMES.filter((name) => !(name in GATHERED))).toEqual([]);
  });
});
