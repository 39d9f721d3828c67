import { setTimeout as pause } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import { afterEach, describe, expect, it } from '@jest/globals';
import { PEOPLE } from '../../examples/refunds/stack.mjs';
import { FaultStack, NEEDS_LEAD } from './support/fault-stack.js';
import { callRecords, withDatabase } from './support/stopped-database.js';

/** What somebody with the database file and no key can do to one approved call. `other` is a call nobody tampers with. */
type Attack = (database: Database, toolCallId: string, other: string) => void;

const PAYLOAD_OF = "SELECT payload_sealed FROM events WHERE stream_id = ? AND event_type = 'tool.call.proposed'";
const SET_PAYLOAD = "UPDATE events SET payload_sealed = ? WHERE stream_id = ? AND event_type = 'tool.call.proposed'";

const ATTACKS: Readonly<Record<string, Attack>> = {
  'a bit of the sealed arguments is turned': (database, toolCallId) => {
    const sealed = Buffer.from(database.prepare(PAYLOAD_OF).pluck().get(toolCallId) as Buffer);
    sealed.writeUInt8(sealed.readUInt8(sealed.length - 20) ^ 1, sealed.length - 20);
    database.prepare(SET_PAYLOAD).run(sealed, toolCallId);
  },
  'the sealed arguments are those of another call': (database, toolCallId, other) => {
    database.prepare(SET_PAYLOAD).run(database.prepare(PAYLOAD_OF).pluck().get(other), toolCallId);
  },
  'the whole proposal is that of another call': (database, toolCallId, other) => {
    const columns = ['salt', 'payload_commitment', 'payload_sealed', 'data_key_id', 'leaf_hash'];
    const read = `SELECT ${columns.join(', ')} FROM events WHERE stream_id = ? AND event_type = 'tool.call.proposed'`;
    const row = database.prepare(read).get(other) as Record<string, unknown>;
    const assignments = columns.map((column) => `${column} = @${column}`).join(', ');
    database
      .prepare(`UPDATE events SET ${assignments} WHERE stream_id = @id AND event_type = 'tool.call.proposed'`)
      .run({ ...row, id: toolCallId });
  },
  'the call points to the proposal of another call': (database, toolCallId, other) => {
    const find = 'SELECT proposed_event_id FROM tool_calls WHERE tool_call_id = ?';
    database
      .prepare('UPDATE tool_calls SET proposed_event_id = ? WHERE tool_call_id = ?')
      .run(database.prepare(find).pluck().get(other), toolCallId);
  },
  'the call points to the proposal of another call and has its digest': (database, toolCallId, other) => {
    const row = database
      .prepare('SELECT proposed_event_id, args_digest FROM tool_calls WHERE tool_call_id = ?')
      .get(other);
    database
      .prepare(
        'UPDATE tool_calls SET proposed_event_id = @proposed_event_id, args_digest = @args_digest WHERE tool_call_id = @id',
      )
      .run({
        ...(row as object),
        id: toolCallId,
      });
  },
  'the digest in the row is another': (database, toolCallId) => {
    const digest = `sha256:${'0'.repeat(64)}`;
    database.prepare('UPDATE tool_calls SET args_digest = ? WHERE tool_call_id = ?').run(digest, toolCallId);
  },
};

describe('a record that was changed behind the back of the proxy', () => {
  let stack: FaultStack;
  afterEach(() => stack.end());

  it('never runs, and says so, while the untouched call beside it runs', async () => {
    stack = await FaultStack.start();
    await stack.order('tampered');
    const pauseRefunds = { target: { capability: 'refund.create' } };
    const names = ['untouched', ...Object.keys(ATTACKS)];
    const calls = await Promise.all(
      names.map((_, n) => stack.refundForApproval(`tampered-${n}`, 'tampered', NEEDS_LEAD + n)),
    );
    const ids = calls.map(({ toolCallId }) => toolCallId);
    expect((await stack.control({ type: 'pause', ...pauseRefunds })).status).toBe(202);
    for (const call of calls) expect((await stack.decide(PEOPLE.lena, call, 'allow')).status).toBe(200);
    expect((await Promise.all(ids.map((id) => stack.show(id)))).map(({ status }) => status)).toEqual(
      ids.map(() => 'authorized'),
    );
    await stack.stop();

    tamper(ids);
    await stack.boot();
    expect((await stack.control({ type: 'unpause', ...pauseRefunds })).status).toBe(202);
    expect((await stack.show(ids[0] as string, 20)).status).toBe('completed');
    await pause(2_000);
    const { executionsByKey, requestsByKey } = await stack.stats();
    const output = stack.running.output();
    await stack.stop();

    const records = new Map(callRecords(stack.dataDir).map((record) => [record.toolCallId, record]));
    const ran = names.filter((_, n) => {
      const key = records.get(ids[n] as string)?.downstreamKey ?? '';
      return (requestsByKey[key] ?? 0) + (executionsByKey[key] ?? 0) > 0;
    });
    expect(ran).toEqual(['untouched']);
    expect(names.filter((_, n) => isReported(output, ids[n] as string))).toEqual(Object.keys(ATTACKS));
  });

  it('does not take a call for consented whose row says so while its own approval does not', async () => {
    stack = await FaultStack.start();
    await stack.order('forged');
    const pauseRefunds = { target: { capability: 'refund.create' } };
    const names = ['lender', 'own-approval', 'borrowed-approval', 'by-policy'];
    const calls = await Promise.all(names.map((name, n) => stack.refundForApproval(name, 'forged', NEEDS_LEAD + n)));
    const [lender, own, borrowed, byPolicy] = calls.map(({ toolCallId }) => toolCallId) as [
      string,
      string,
      string,
      string,
    ];
    await stack.control({ type: 'pause', ...pauseRefunds });
    await stack.decide(PEOPLE.lena, calls[0] as (typeof calls)[number], 'allow');
    await stack.stop();

    withDatabase(stack.dataDir, (database) => {
      dropTriggers(database);
      const claim = `UPDATE tool_calls SET status = 'authorized', authorization_basis = @basis, execute_by = '2999-01-01T00:00:00.000Z',
        approval_id = coalesce(@approvalId, approval_id) WHERE tool_call_id = @id`;
      const work = `INSERT INTO work SELECT @id, tenant, capability, kind, fence, owner, owner_epoch, claim_until, next_at, tries
        FROM work WHERE tool_call_id = @lender`;
      for (const [id, basis, approvalId] of [
        [own, 'approval', null],
        [borrowed, 'approval', (calls[0] as (typeof calls)[number]).approvalId],
        [byPolicy, 'policy', null],
      ]) {
        database.prepare(claim).run({ id, basis, approvalId });
        database.prepare(work).run({ id, lender });
      }
      // The borrower is first in line, so that the consent it borrows has not been used by its owner.
      database.prepare("UPDATE work SET next_at = '2000-01-01T00:00:00.000Z' WHERE tool_call_id = ?").run(borrowed);
    });
    await stack.boot({ COUNTERSIGN_EXECUTION__MAX_IN_FLIGHT: '1' });
    await stack.control({ type: 'unpause', ...pauseRefunds });
    await pause(4_000);
    const { requestsByKey } = await stack.stats();
    const output = stack.running.output();
    await stack.stop();
    const keys = new Map(
      callRecords(stack.dataDir).map(({ toolCallId, downstreamKey }) => [toolCallId, downstreamKey]),
    );
    const ran = names.filter((_, n) => (requestsByKey[keys.get(calls[n]?.toolCallId ?? '') ?? ''] ?? 0) > 0);
    expect(ran).toEqual(['lender']);
    // They have been looked at and refused; not just never reached.
    expect(names.filter((_, n) => isReported(output, calls[n]?.toolCallId ?? ''))).toEqual(names.slice(1));
  });

  function tamper([other, ...ids]: readonly string[]): void {
    withDatabase(stack.dataDir, (database) => {
      dropTriggers(database);
      Object.values(ATTACKS).forEach((attack, n) => attack(database, ids[n] as string, other as string));
    });
  }
});

function isReported(output: string, toolCallId: string): boolean {
  const lines = output.split('\n').filter((line) => line.includes('differs from what was agreed to'));
  return lines.some((line) => line.includes(toolCallId));
}

function dropTriggers(database: Database): void {
  const triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'";
  for (const name of database.prepare(triggers).pluck().all() as string[]) database.exec(`DROP TRIGGER ${name}`);
}
