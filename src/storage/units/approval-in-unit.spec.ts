import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { APPROVAL_ROWS, at, FAY, FRED, question, voteCommand } from '../../../test/builders/approval-examples.js';
import { MemoryStore } from '../../../test/builders/memory-store.js';
import { countedIds, ManualClock } from '../../../test/builders/manual-clock.js';
import type { ApprovalCommand } from '../../domain/approval/approval.commands.js';
import { decideApproval } from '../../domain/approval/approval.decide.js';
import { foldApproval } from '../../domain/approval/approval.evolve.js';
import { domainEventOf } from '../../domain/events/domain-event.js';
import { approvalFacts, approvalRow, type ApprovalFacts } from '../rows/approval.row.js';
import { GuardFailed } from '../unit.js';
import { ApprovalInUnit } from './approval-in-unit.js';
import { loadApproval, type LoadedApproval } from './load.js';
import { UnitDraft } from './unit-draft.js';

const ID = 'apr_1';
const START = at('09:00:00');
/** What the call it is about is about. */
const REFS = { toolCallId: 'call_1', runId: 'run_1', sessionId: 'run_1' };
const FACTS: ApprovalFacts = {
  approval_id: ID,
  tenant: 'acme',
  tool_call_id: 'call_1',
  run_id: 'run_1',
  session_id: 'run_1',
  principal: '["alice","agent-7"]',
  version: 0,
  supersedes_approval_id: null,
  required_event_id: '',
  last_event_id: '',
  created_at: START,
  updated_at: START,
};

class OneApproval {
  readonly clock = new ManualClock(START);
  readonly store = new MemoryStore(this.clock);
  private readonly ids = countedIds(this.clock);

  draft(): UnitDraft {
    return new UnitDraft(this.ids, {
      tenant: 'acme',
      lane: 'govern',
      actor: { sub: 'fay' },
      correlationId: 'call_1',
      occurredAt: this.clock.iso,
      causationId: null,
      causeKind: 'external',
    });
  }

  async loaded(): Promise<LoadedApproval> {
    const approval = await loadApproval(this.store.read, 'acme', ID);
    if (approval === null) throw new Error('nobody was asked');
    return approval;
  }

  async unit(...commands: readonly ApprovalCommand[]): Promise<ApprovalInUnit> {
    const before = (await loadApproval(this.store.read, 'acme', ID)) ?? { state: null, facts: FACTS };
    this.clock.advance(1);
    const draft = this.draft();
    const approval = new ApprovalInUnit(draft, before, REFS);
    for (const command of commands) approval.do(command);
    if (!draft.isEmpty) await this.store.commit(draft.build());
    return approval;
  }
}

async function asked(): Promise<OneApproval> {
  const one = new OneApproval();
  await one.unit({ kind: 'ask', question: question() });
  return one;
}

describe('an approval in a unit', () => {
  it('is one row that names its question and its newest event', async () => {
    const one = await asked();
    await one.unit(voteCommand(FAY, 'allow'));
    const [required, vote] = one.store.events.map(({ envelope }) => envelope.eventId);
    expect((await one.loaded()).row).toMatchObject({
      status: 'pending',
      version: 2,
      required_event_id: required,
      last_event_id: vote,
      rules: JSON.stringify([{ group: 'finance', count: 2, notRequester: true }]),
      created_at: START,
      updated_at: one.clock.iso,
    });
  });

  it('refers to its call and its run in every event', async () => {
    const one = await asked();
    expect(one.store.events[0]?.envelope).toMatchObject({
      approvalId: ID,
      toolCallId: 'call_1',
      runId: 'run_1',
      sessionId: 'run_1',
      streamKind: 'approval',
    });
  });

  it('keeps a row of each vote with the event that holds its reason', async () => {
    const one = await asked();
    await one.unit(voteCommand(FAY, 'allow'));
    const eventId = one.store.events.at(-1)?.envelope.eventId;
    expect(one.store.rows('approval_votes')).toEqual([
      {
        approval_id: ID,
        on_behalf_of: '[]',
        sub: 'fay',
        tenant: 'acme',
        decision: 'allow',
        groups: '["finance"]',
        withdrawn: 0,
        event_id: eventId,
        voted_at: one.clock.iso,
      },
    ]);
  });

  it('grants in the unit of the vote that fills the quorum', async () => {
    const one = await asked();
    await one.unit(voteCommand(FAY, 'allow'));
    await one.unit(voteCommand(FRED, 'allow'));
    expect(one.store.lastTypes).toEqual(['approval.vote_recorded', 'approval.granted']);
    expect((await one.loaded()).row).toMatchObject({ status: 'granted', decided_by: '["fay","fred"]', version: 4 });
  });

  it('counts a withdrawn vote no longer, and counts it again when it is cast again', async () => {
    const one = await asked();
    await one.unit(voteCommand(FAY, 'allow'));
    await one.unit({ kind: 'withdraw_vote', voter: FAY, reason: null, now: at('10:01:00') });
    expect(one.store.rows('approval_votes')[0]).toMatchObject({ withdrawn: 1 });
    expect((await one.loaded()).state.votes).toEqual([]);
    await one.unit(voteCommand(FAY, 'allow'));
    expect(one.store.rows('approval_votes')).toHaveLength(1);
    expect((await one.loaded()).state.votes).toHaveLength(1);
  });

  it('has changed nothing where the same person says the same again', async () => {
    const one = await asked();
    await one.unit(voteCommand(FAY, 'allow'));
    expect((await one.unit(voteCommand(FAY, 'allow'))).changed).toBe(false);
    expect(one.store.units).toHaveLength(2);
  });

  it('refuses with the code of the table, its id and what is recorded', async () => {
    const one = await asked();
    await one.unit({ kind: 'close', closing: { reason: 'cancelled' } });
    await expect(one.unit(voteCommand(FAY, 'allow'))).rejects.toMatchObject({
      code: 'approval_not_pending',
      details: { approvalId: ID, recordedDecision: 'closed' },
    });
  });

  it('lets one of two votes win that began with the same version', async () => {
    const one = await asked();
    const before = await one.loaded();
    const [first, second] = [one.draft(), one.draft()];
    new ApprovalInUnit(first, before, REFS).do(voteCommand(FAY, 'allow'));
    new ApprovalInUnit(second, before, REFS).do(voteCommand(FRED, 'allow'));
    await one.store.commit(first.build());
    await expect(one.store.commit(second.build())).rejects.toThrow(GuardFailed);
  });

  it('has no state before the question', () => {
    expect(() => new ApprovalInUnit(new OneApproval().draft(), { state: null, facts: FACTS }, REFS).state).toThrow(
      'has not been asked',
    );
  });
});

describe('any sequence of commands to an approval', () => {
  it('leaves the rows that folding the stream gives', async () => {
    const draws = fc.array(fc.noBias(fc.nat({ max: 9_999 })), { minLength: 1, maxLength: 20, size: 'max' });
    await fc.assert(
      fc.asyncProperty(draws, async (choices) => {
        const one = await asked();
        for (const choice of choices) {
          const { state } = await one.loaded();
          const open = APPROVAL_ROWS.filter(({ trial }) => decideApproval(state, trial.command(state)).ok);
          const row = open[choice % open.length];
          if (row === undefined) return;
          await one.unit(row.trial.command(state));
          const after = await one.loaded();
          const events = one.store.events.map(({ envelope, payload }) => domainEventOf(envelope.eventType, payload));
          const folded = foldApproval(null, events);
          if (folded === null) throw new Error('no state');
          expect(after.row).toEqual(approvalRow(approvalFacts(after.row), folded));
          expect(after.row.version).toBe(events.length);
          // An ended approval keeps its votes as rows; what its state says of them no longer matters.
          if (after.state.status === 'pending') expect(after.state).toEqual(folded);
        }
      }),
      { numRuns: 60 },
    );
  });
});
