import { describe, expect, it } from '@jest/globals';
import type { TableRow } from '../../../../src/storage/rows/tables.js';
import type { ApprovalListQuery, ToolCallListQuery } from '../../../../src/storage/readers/lists.js';
import type { Store } from '../../../../src/storage/store.js';
import type { Write } from '../../../../src/storage/unit.js';
import type { StoreUnderTest } from '../store-contract.js';
import { CallScript, TENANT, approvalInsert, newId, unit } from '../unit-builders.js';

const at = (minute: number): string =>
  `2031-01-01T${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}:00.000Z`;

/** Calls made one a minute, several of them in the same minute as the one before. */
async function recordCalls(store: Store, count: number, parts: (index: number) => Partial<TableRow<'tool_calls'>>) {
  const writes = Array.from({ length: count }, (_, index): Write => {
    const minute = index - (index % 3 === 1 ? 1 : 0);
    const row = { ...new CallScript().row({ status: 'proposed' }, 1), created_at: at(minute), ...parts(index) };
    return {
      op: 'insert',
      table: 'tool_calls',
      row: { ...row, tool_call_id: `call ${String(index).padStart(4, '0')}` },
      takenGuard: 'call',
    };
  });
  await store.commit(unit({ lane: 'govern', writes }));
}

async function allPages(store: Store, query: Omit<ToolCallListQuery, 'cursor'>): Promise<string[][]> {
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Store['read']['toolCalls']>> = await store.read.toolCalls({ ...query, cursor });
    pages.push(page.rows.map((row) => row.tool_call_id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return pages;
}

export function describeLists({ current }: StoreUnderTest): void {
  describe('lists', () => {
    it('pages through calls, newest first, each exactly once', async () => {
      const { store } = current();
      await recordCalls(store, 50, () => ({}));
      const pages = await allPages(store, { tenant: TENANT, limit: 7 });
      expect(pages.map((page) => page.length)).toEqual([7, 7, 7, 7, 7, 7, 7, 1]);
      const listed = pages.flat();
      expect(new Set(listed).size).toBe(50);
      const rows = await Promise.all(listed.map((id) => store.read.toolCall(TENANT, id)));
      const times = rows.map((row) => `${row?.created_at} ${row?.tool_call_id}`);
      expect(times).toEqual([...times].sort().reverse());
    });

    it('gives a whole last page no cursor', async () => {
      const { store } = current();
      await recordCalls(store, 14, () => ({}));
      expect((await allPages(store, { tenant: TENANT, limit: 7 })).map((page) => page.length)).toEqual([7, 7]);
    });

    it('keeps its place when newer calls come in between', async () => {
      const { store } = current();
      await recordCalls(store, 10, () => ({}));
      const first = await store.read.toolCalls({ tenant: TENANT, limit: 5 });
      const newer = { ...new CallScript().row({ status: 'proposed' }, 1), created_at: at(600) };
      await store.commit(unit({ writes: [{ op: 'insert', table: 'tool_calls', row: newer, takenGuard: 'call' }] }));
      const second = await store.read.toolCalls({ tenant: TENANT, limit: 5, cursor: first.nextCursor });
      expect(second.rows.map((row) => row.tool_call_id)).toEqual(
        [4, 3, 2, 1, 0].map((index) => `call 000${index}`).sort((a, b) => order(a, b)),
      );
      expect(second.nextCursor).toBeNull();
    });

    it('filters by status, run, capability, principal and time, together', async () => {
      const { store } = current();
      await recordCalls(store, 60, (index) => ({
        status: index % 2 === 0 ? 'completed' : 'failed',
        run_id: `run ${index % 3}`,
        capability: index < 30 ? 'refund' : 'deploy',
        principal: index % 5 === 0 ? '["bob"]' : '["alice"]',
        created_at: at(index),
      }));
      const found = async (query: Partial<ToolCallListQuery>) =>
        (await store.read.toolCalls({ tenant: TENANT, limit: 200, ...query })).rows.map((row) =>
          Number(row.tool_call_id.slice(5)),
        );
      const expected = (keep: (index: number) => boolean) =>
        Array.from({ length: 60 }, (_, index) => 59 - index).filter(keep);
      expect(await found({ statuses: ['completed'] })).toEqual(expected((index) => index % 2 === 0));
      expect(await found({ statuses: ['completed', 'failed'] })).toEqual(expected(() => true));
      expect(await found({ statuses: [] })).toEqual([]);
      expect(await found({ runId: 'run 1' })).toEqual(expected((index) => index % 3 === 1));
      expect(await found({ capability: 'deploy' })).toEqual(expected((index) => index >= 30));
      expect(await found({ principal: '["bob"]' })).toEqual(expected((index) => index % 5 === 0));
      expect(await found({ from: at(10), to: at(20) })).toEqual(expected((index) => index >= 10 && index < 20));
      expect(await found({ statuses: ['failed'], runId: 'run 0', capability: 'refund', from: at(5) })).toEqual(
        expected((index) => index % 2 === 1 && index % 3 === 0 && index < 30 && index >= 5),
      );
      expect(await found({ tenant: 'globex' })).toEqual([]);
    });

    it('leaves out handoffs with a finding when only unresolved calls are wanted', async () => {
      const { store } = current();
      await recordCalls(store, 3, (index) => ({
        status: index === 0 ? 'result_unknown' : 'manual_handoff',
        resolution_finding: index === 2 ? 'happened' : null,
      }));
      const query = { tenant: TENANT, limit: 10, statuses: ['result_unknown', 'manual_handoff'] } as const;
      expect((await store.read.toolCalls(query)).rows).toHaveLength(3);
      expect((await store.read.toolCalls({ ...query, unresolvedOnly: true })).rows).toHaveLength(2);
    });

    it('gives at most 200 rows and at least one, whatever is asked', async () => {
      const { store } = current();
      await recordCalls(store, 210, () => ({}));
      expect((await store.read.toolCalls({ tenant: TENANT, limit: 10_000 })).rows).toHaveLength(200);
      expect((await store.read.toolCalls({ tenant: TENANT, limit: 0 })).rows).toHaveLength(1);
    });

    it.each([
      '',
      'not a cursor',
      'e30',
      Buffer.from('["a"]').toString('base64url'),
      Buffer.from('[1,2]').toString('base64url'),
    ])('refuses a cursor that it did not give: %j', async (cursor) => {
      const { store } = current();
      const listed = store.read.toolCalls({ tenant: TENANT, limit: 5, cursor });
      await expect(listed).rejects.toMatchObject({ code: 'invalid_request', details: { pointer: '/cursor' } });
    });

    it('lists approvals by status, call and run, newest first', async () => {
      const { store } = current();
      const approvals = Array.from({ length: 9 }, () => newId('approval'));
      const writes = approvals.map((id, index) =>
        approvalInsert(id, index % 3 === 0 ? { status: 'pending' } : { status: 'denied', decidedBy: ['bob'] }),
      );
      await store.commit(unit({ lane: 'govern', writes }));
      const found = async (query: Partial<ApprovalListQuery>) =>
        (await store.read.approvals({ tenant: TENANT, limit: 50, ...query })).rows.map((row) => row.approval_id);
      expect(await found({})).toEqual([...approvals].reverse());
      expect(await found({ statuses: ['pending'] })).toEqual([6, 3, 0].map((index) => approvals[index]));
      const row = await store.read.approval(TENANT, approvals[4] ?? '');
      expect(await found({ toolCallId: row?.tool_call_id ?? '' })).toEqual([approvals[4]]);
      expect(await found({ runId: row?.run_id ?? '' })).toEqual([approvals[4]]);
      expect(await found({ tenant: 'globex' })).toEqual([]);
      const first = await store.read.approvals({ tenant: TENANT, limit: 4 });
      const second = await store.read.approvals({ tenant: TENANT, limit: 9, cursor: first.nextCursor });
      expect([...first.rows, ...second.rows].map(({ approval_id }) => approval_id)).toEqual([...approvals].reverse());
    });
  });
}

/** Newest first: by time, which is shared by some, then by id. */
function order(left: string, right: string): number {
  const minute = (id: string): number => Number(id.slice(5)) - (Number(id.slice(5)) % 3 === 1 ? 1 : 0);
  return minute(right) - minute(left) || (right < left ? -1 : 1);
}
