import { describe, expect, it } from '@jest/globals';
import type { NewEvent } from '../../../../src/domain/events/envelope.js';
import type { OutcomeState } from '../../../../src/domain/outcome/outcome.state.js';
import { outcomeRow, outcomeState } from '../../../../src/storage/rows/outcome.row.js';
import type { TableRow } from '../../../../src/storage/rows/tables.js';
import type { Write } from '../../../../src/storage/unit.js';
import { outcomeOf } from '../outcomes.js';
import type { StoreUnderTest } from '../store-contract.js';
import { CallScript, TENANT, event, newId, runInsert, unit } from '../unit-builders.js';

const at = (minute: number): string => `2031-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;

const VERIFICATION = {
  criteriaId: 'refund_settled',
  criteriaVersion: '1',
  needs: ['provider_status', 'statement_line'],
  withinMs: 60_000,
  attempt: 1,
  deadline: at(5),
  seen: [{ kind: 'provider_status', feedbackId: 'fb-1' }],
};

function outcome(state: OutcomeState, parts: Partial<TableRow<'outcomes'>> = {}): TableRow<'outcomes'> {
  const id = newId('toolCall');
  const facts = {
    tool_call_id: id,
    tenant: TENANT,
    run_id: 'run_1',
    session_id: 'run_1',
    correlation_id: id,
    version: 1,
    verdict_event_id: null,
    last_event_id: 'evt_1',
    created_at: at(0),
    updated_at: at(0),
  };
  return { ...outcomeRow(facts, state), ...parts };
}

const insertOutcome = (row: TableRow<'outcomes'>): Write => ({
  op: 'insert',
  table: 'outcomes',
  row,
  takenGuard: 'outcome',
});

function stated(parts: Partial<TableRow<'run_objects'>> = {}): Write & { readonly row: TableRow<'run_objects'> } {
  const row: TableRow<'run_objects'> = {
    object_id: newId('artifact'),
    tenant: TENANT,
    run_id: 'run_1',
    kind: 'artifact',
    client_id: 'report-1',
    request_digest: 'sha256:1',
    turn_id: null,
    correlation_id: 'run_1',
    state: 'recorded',
    event_id: null,
    created_at: at(0),
    updated_at: at(0),
    ...parts,
  };
  return { op: 'insert', table: 'run_objects', row, takenGuard: 'run_object' };
}

const STATES: readonly OutcomeState[] = [
  { ...VERIFICATION, status: 'pending' },
  { ...VERIFICATION, status: 'confirmed_success' },
  { ...VERIFICATION, status: 'confirmed_failure', basis: 'not_executed' },
  { ...VERIFICATION, status: 'inconclusive', reason: 'deadline_passed' },
];

export function describeOutcomesAndRuns({ current }: StoreUnderTest): void {
  describe('outcomes', () => {
    it.each(STATES)('are read as they were written when $status, by their tenant alone', async (state) => {
      const { store } = current();
      const row = outcome(state);
      await store.commit(unit({ writes: [insertOutcome(row)] }));
      const read = await store.read.outcome(TENANT, row.tool_call_id);
      expect(read).toEqual(row);
      expect(read === null ? null : outcomeState(read)).toEqual(state);
      expect(await store.read.outcome('umbrella', row.tool_call_id)).toBeNull();
    });

    it('are overdue when they are pending and their deadline has come, the oldest first', async () => {
      const { store } = current();
      const pending = (minute: number) => outcome({ ...VERIFICATION, status: 'pending', deadline: at(minute) });
      const [late, early, later] = [pending(4), pending(2), pending(9)];
      const done = outcome({ ...VERIFICATION, status: 'confirmed_success', deadline: at(1) });
      await store.commit(unit({ writes: [late, early, later, done].map(insertOutcome) }));
      const overdue = await store.read.overdueOutcomes(at(4), 10);
      expect(overdue.map((row) => row.tool_call_id)).toEqual([early.tool_call_id, late.tool_call_id]);
    });

    it('take one feedback of a source once', async () => {
      const { store } = current();
      const row: TableRow<'outcome_feedback'> = {
        tool_call_id: newId('toolCall'),
        source: '["bank"]',
        feedback_id: 'fb-1',
        tenant: TENANT,
        request_digest: 'sha256:1',
        status: 'received',
        code: null,
        event_id: newId('event'),
        received_at: at(0),
      };
      const write = (parts: Partial<typeof row>): Write => ({
        op: 'insert',
        table: 'outcome_feedback',
        row: { ...row, ...parts },
        takenGuard: 'feedback',
      });
      expect(await outcomeOf(store.commit(unit({ writes: [write({})] })))).toBe('committed');
      expect(await outcomeOf(store.commit(unit({ writes: [write({ request_digest: 'x' })] })))).toBe('guard feedback');
      expect(await outcomeOf(store.commit(unit({ writes: [write({ source: '["psp"]' })] })))).toBe('committed');
      expect(await store.read.outcomeFeedback(TENANT, row.tool_call_id, row.source, 'fb-1')).toEqual(row);
      expect(await store.read.outcomeFeedback('umbrella', row.tool_call_id, row.source, 'fb-1')).toBeNull();
    });
  });

  describe('what is stated about runs', () => {
    it('has one meaning per run, kind and client id', async () => {
      const { store } = current();
      const first = stated();
      expect(await outcomeOf(store.commit(unit({ writes: [first] })))).toBe('committed');
      expect(await outcomeOf(store.commit(unit({ writes: [stated()] })))).toBe('guard run_object');
      for (const other of [stated({ kind: 'turn' }), stated({ run_id: 'run_2' }), stated({ client_id: 'report-2' })]) {
        expect(await outcomeOf(store.commit(unit({ writes: [other] })))).toBe('committed');
      }
      const { read } = store;
      expect(await read.runObjectByClientId(TENANT, 'run_1', 'artifact', 'report-1')).toEqual(first.row);
      expect(await read.runObject(TENANT, first.row.object_id)).toEqual(first.row);
      expect(await read.runObject('umbrella', first.row.object_id)).toBeNull();
      const listed = await read.runObjects(TENANT, 'run_1', 'artifact', 10);
      expect(listed.map((row) => row.client_id).toSorted()).toEqual(['report-1', 'report-2']);
    });
  });

  describe('the events of a run', () => {
    it('are those of its streams, in order, in pages, and of no other run or tenant', async () => {
      const { store } = current();
      const [run, other] = [newId('run'), newId('run')];
      const calls = [new CallScript(run), new CallScript(other), new CallScript(run)];
      const start = (runId: string): NewEvent =>
        event('run.started', { implicit: true, principal: { sub: 'alice' } }, { refs: { runId, sessionId: runId } });
      for (const runId of [run, other]) {
        const appends = [{ stream: { kind: 'run', id: runId } as const, expectedVersion: 0, events: [start(runId)] }];
        await store.commit(unit({ appends, writes: [runInsert(runId)] }));
      }
      for (const call of calls) await store.commit(call.proposeAndDispatch());
      for (const call of calls) await store.commit(call.settle());
      const all = await store.read.runEvents(TENANT, run, -1, 100);
      expect(all).toHaveLength(1 + 7 + 7);
      const positions = all.map(({ position }) => position);
      expect(positions).toEqual(positions.toSorted((left, right) => left - right));
      expect(new Set(all.map(({ envelope }) => envelope.runId))).toEqual(new Set([run]));
      const paged = [];
      for (let after = -1; ;) {
        const page = await store.read.runEvents(TENANT, run, after, 4);
        paged.push(...page);
        if (page.length < 4) break;
        after = page.at(-1)?.position ?? after;
      }
      expect(paged).toEqual(all);
      expect(await store.read.runEvents('umbrella', run, -1, 100)).toEqual([]);
      const last = all.at(-1)?.position ?? 0;
      expect(await store.read.runEventsBetween(TENANT, run, -1, last)).toEqual(all);
      expect(await store.read.runEventsBetween(TENANT, run, all[0]?.position ?? 0, last - 1)).toEqual(all.slice(1, -1));
      expect(await store.read.runEventsBetween('umbrella', run, -1, last)).toEqual([]);
      expect((await store.read.runStart(TENANT, run))?.envelope.eventType).toBe('run.started');
      expect(await store.read.runStart('umbrella', run)).toBeNull();
      expect(await store.read.callCountUpTo(TENANT, run, 10)).toBe(2);
      expect(await store.read.callCountUpTo(TENANT, run, 1)).toBe(1);
    });

    it('open calls among them are listed, the oldest first', async () => {
      const { store } = current();
      const run = newId('run');
      const [done, open] = [new CallScript(run), new CallScript(run)];
      for (const call of [done, open]) await store.commit(call.proposeAndDispatch());
      await store.commit(done.settle());
      const listed = await store.read.openCalls(TENANT, run, 10);
      expect(listed.map((row) => row.tool_call_id)).toEqual([open.toolCallId]);
      expect(await store.read.openCalls('umbrella', run, 10)).toEqual([]);
      expect(await store.read.questionsOfRun(TENANT, run, 10)).toEqual([]);
    });
  });
}
