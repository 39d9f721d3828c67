import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { factSequences } from '../../../test/builders/session-facts.js';
import { emptyAgentState, evolveAgentState, foldAgentState, snapshotAgentState } from './agent-state.js';
import { decodeSnapshot, encodeSnapshot } from './codec/snapshot-codec.js';
import { NO_SECRETS } from './codec/plain-json.js';
import { foldRunState } from './run-state.js';
import type { AgentState, SessionRunState, SessionSnapshot } from './session-state.js';

const KEY = { tenant: 'acme', sessionId: 'ses-1' };
const EMPTY = emptyAgentState(KEY.sessionId, { lang: 'en' });

function snapshotOf(agentState: AgentState, runState: SessionRunState | null): SessionSnapshot {
  const position = { lastSeq: 1, lastEventId: 'evt-1', sessionFormatVersion: 1 };
  return { envelopeVersion: 1, ...KEY, position, agentState, runState, versionSetId: 'v' };
}

describe('a state, whatever the facts and wherever they are cut,', () => {
  it('is the same from a snapshot and the facts behind it as from all facts [A-15, U-01, P-26]', () => {
    fc.assert(
      fc.property(factSequences(120), fc.nat(120), (facts, at) => {
        const whole = foldAgentState(EMPTY, facts);
        const early = snapshotAgentState(foldAgentState(EMPTY, facts.slice(0, at)));
        expect(foldAgentState(early, facts.slice(at))).toEqual(whole);
        const run = foldRunState(null, facts, KEY.sessionId);
        const earlyRun = foldRunState(null, facts.slice(0, at), KEY.sessionId);
        expect(foldRunState(earlyRun, facts.slice(at), KEY.sessionId)).toEqual(run);
      }),
      { numRuns: 150 },
    );
  });

  it('is the same from 500 facts by way of files at several places [P-26]', () => {
    fc.assert(
      fc.property(factSequences(500), fc.array(fc.nat(500), { maxLength: 3 }), (facts, cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), facts.length];
        let agentState = EMPTY;
        let runState: SessionRunState | null = null;
        for (const [index, from] of places.slice(0, -1).entries()) {
          const slice = facts.slice(from, places[index + 1]);
          agentState = foldAgentState(agentState, slice);
          runState = foldRunState(runState, slice, KEY.sessionId);
          const text = encodeSnapshot(snapshotOf(agentState, runState), NO_SECRETS);
          const read = decodeSnapshot(text.ok ? text.value : '', KEY);
          if (!read.ok) throw new Error(read.problem.code);
          ({ agentState, runState } = read.value);
        }
        expect(agentState).toEqual(foldAgentState(EMPTY, facts));
        expect(runState).toEqual(foldRunState(null, facts, KEY.sessionId));
      }),
      { numRuns: 25 },
    );
  });

  it('is the same one by one as all at once', () => {
    fc.assert(
      fc.property(factSequences(60), (facts) => {
        expect(facts.reduce(evolveAgentState, EMPTY)).toEqual(foldAgentState(EMPTY, facts));
      }),
      { numRuns: 50 },
    );
  });

  it('comes back from its text as it was [A-86]', () => {
    fc.assert(
      fc.property(factSequences(80), (facts) => {
        const snapshot = snapshotOf(foldAgentState(EMPTY, facts), foldRunState(null, facts, KEY.sessionId));
        const text = encodeSnapshot(snapshot, NO_SECRETS);
        expect(text.ok && decodeSnapshot(text.value, KEY)).toEqual({ ok: true, value: snapshot });
      }),
      { numRuns: 150 },
    );
  });

  it('is left as it was by what is folded onto it', () => {
    fc.assert(
      fc.property(factSequences(40), factSequences(40), (facts, more) => {
        const state = foldAgentState(EMPTY, facts);
        const before = JSON.stringify(state);
        foldAgentState(state, more);
        expect(JSON.stringify(state)).toBe(before);
      }),
      { numRuns: 50 },
    );
  });
});
