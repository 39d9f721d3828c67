import { describe, expect, it } from '@jest/globals';
import { principalKey } from '../../../../src/domain/principal.js';
import type { ToolCallStatus } from '../../../../src/domain/tool-call/tool-call.state.js';
import type { TableRow } from '../../../../src/storage/rows/tables.js';
import type { Store } from '../../../../src/storage/store.js';
import type { Write } from '../../../../src/storage/unit.js';
import type { StoreUnderTest } from '../store-contract.js';
import {
  CallScript,
  PRINCIPAL,
  TENANT,
  approvalInsert,
  event,
  metaInsert,
  newId,
  runInsert,
  unit,
} from '../unit-builders.js';

const at = (minute: number): string => `2031-01-01T00:${String(minute).padStart(2, '0')}:00.000Z`;

function callInsert(parts: Partial<TableRow<'tool_calls'>>): Write {
  const script = new CallScript();
  const row = { ...script.row({ status: 'proposed' }, 1), ...parts };
  return { op: 'insert', table: 'tool_calls', row, takenGuard: 'tool_call' };
}

function workInsert(toolCallId: string, parts: Partial<TableRow<'work'>>): Write {
  const row: TableRow<'work'> = {
    tool_call_id: toolCallId,
    tenant: TENANT,
    capability: 'refund',
    kind: 'execute',
    fence: 0,
    owner: null,
    owner_epoch: null,
    claim_until: null,
    next_at: at(0),
    tries: 0,
    ...parts,
  };
  return { op: 'put', table: 'work', row };
}

const write = (store: Store, ...writes: Write[]) => store.commit(unit({ lane: 'govern', writes }));

export function describeReads({ current }: StoreUnderTest): void {
  describe('reads', () => {
    it('takes the id of another tenant for an unknown id, whatever is asked', async () => {
      const { store } = current();
      const { read } = store;
      const call = new CallScript();
      const whole = call.proposeAndDispatch();
      await store.commit(whole);
      const approvalId = newId('approval');
      await write(
        store,
        runInsert(call.runId, { label: 'nightly' }),
        approvalInsert(approvalId, { status: 'pending' }),
      );
      const eventId = whole.appends[0]?.events[0]?.eventId ?? '';
      const principal = principalKey(PRINCIPAL);
      const asked = async (tenant: string) => [
        await read.toolCall(tenant, call.toolCallId),
        await read.attempt(tenant, call.toolCallId, 1),
        await read.workOf(tenant, call.toolCallId),
        await read.approval(tenant, approvalId),
        await read.run(tenant, call.runId),
        await read.openRunByLabel(tenant, principal, 'nightly'),
        await read.idempotency(tenant, principal, 'refund', call.keyHash),
        await read.event(tenant, eventId),
        await read.positionOf(tenant, eventId),
      ];
      expect(await asked(TENANT)).not.toContain(null);
      expect(await asked('globex')).toEqual(Array.from({ length: 9 }, () => null));
      expect(await read.streamEvents('globex', { kind: 'call', id: call.toolCallId })).toEqual([]);
      expect(await read.eventsAfter(-1, 10, 'globex')).toEqual([]);
      expect(await read.openCallCount('globex', call.runId)).toBe(0);
    });

    it('reads a proposal back by its key, its intent, its call id and its command', async () => {
      const { store } = current();
      const call = new CallScript();
      const whole = call.proposeAndDispatch();
      await store.commit(whole);
      const principal = principalKey(PRINCIPAL);
      const record = await store.read.idempotency(TENANT, principal, 'refund', call.keyHash);
      expect(record?.tool_call_id).toBe(call.toolCallId);
      const callIds = {
        run_id: call.runId,
        turn_id: 't1',
        call_id: 'c1',
        tool_call_id: call.toolCallId,
        intent_digest: 'd',
      };
      const command = {
        tenant: TENANT,
        command_id: 'cmd-1',
        type: 'stop',
        issuer: 'bob',
        request_digest: 'd',
        status: 'accepted',
        code: null,
        event_id: newId('event'),
        received_at: at(1),
      } as const;
      await write(
        store,
        { op: 'insert', table: 'call_ids', row: callIds, takenGuard: 'call_id' },
        { op: 'insert', table: 'control_commands', row: command, takenGuard: 'command' },
      );
      expect(await store.read.callId(TENANT, call.runId, 't1', 'c1')).toEqual(callIds);
      expect(await store.read.callId('globex', call.runId, 't1', 'c1')).toBeNull();
      expect(await store.read.command(TENANT, 'cmd-1')).toEqual(command);
      expect(await store.read.command('globex', 'cmd-1')).toBeNull();
    });

    it('lists open intents by ordinal', async () => {
      const { store } = current();
      const intent = (ordinal: number): Write => ({
        op: 'insert',
        table: 'open_intents',
        row: {
          tenant: TENANT,
          principal: 'p',
          capability: 'c',
          intent_digest: 'd',
          ordinal,
          tool_call_id: `call ${ordinal}`,
        },
        takenGuard: 'open_intent',
      });
      await write(store, intent(1), intent(0), intent(2));
      const found = await store.read.openIntents(TENANT, 'p', 'c', 'd');
      expect(found.map(({ ordinal }) => ordinal)).toEqual([0, 1, 2]);
      expect(await store.read.openIntents(TENANT, 'p', 'c', 'other')).toEqual([]);
    });

    it('gives due work that nobody has claimed, the longest due first', async () => {
      const { store } = current();
      await write(
        store,
        workInsert('late', { next_at: at(2) }),
        workInsert('early', { next_at: at(1) }),
        workInsert('now', { next_at: at(5) }),
        workInsert('not yet', { next_at: at(6) }),
        workInsert('claimed', { next_at: at(0), owner: 'ins', owner_epoch: 1, claim_until: at(9) }),
        workInsert('claim over', { next_at: at(3), owner: 'ins', owner_epoch: 1, claim_until: at(5) }),
        workInsert('other kind', { next_at: at(0), kind: 'reconcile' }),
      );
      const due = await store.read.dueWork('execute', at(5), 10);
      expect(due.map((row) => row.tool_call_id)).toEqual(['early', 'late', 'claim over', 'now']);
      expect(await store.read.dueWork('execute', at(5), 2)).toHaveLength(2);
      expect(await store.read.nextWorkAt('execute')).toBe(at(1));
      expect(await store.read.nextWorkAt('observe')).toBeNull();
    });

    it('gives what is overdue, the oldest first, at its deadline and not before', async () => {
      const { store } = current();
      const asked = { first: newId('approval'), second: newId('approval'), granted: newId('approval') };
      await write(
        store,
        approvalInsert(asked.second, { status: 'pending', decideBy: at(4) }),
        approvalInsert(asked.first, { status: 'pending', decideBy: at(3) }),
        approvalInsert(newId('approval'), { status: 'pending', decideBy: at(6) }),
        approvalInsert(asked.granted, { status: 'granted', decideBy: at(1), executeBy: at(4), decidedBy: [] }),
        approvalInsert(newId('approval'), { status: 'denied', decideBy: at(1), decidedBy: [] }),
        callInsert({ tool_call_id: 'call 1', status: 'authorized', execute_by: at(4) }),
        callInsert({ tool_call_id: 'call 2', status: 'authorized', execute_by: at(6) }),
        callInsert({ tool_call_id: 'call 3', status: 'dispatching', execute_by: at(1) }),
      );
      const ids = (rows: readonly { approval_id: string }[]) => rows.map((row) => row.approval_id);
      expect(ids(await store.read.overdueApprovals(at(2), 10))).toEqual([]);
      expect(ids(await store.read.overdueApprovals(at(4), 10))).toEqual([asked.first, asked.second]);
      expect(ids(await store.read.overdueApprovals(at(4), 1))).toEqual([asked.first]);
      expect(ids(await store.read.overdueGrants(at(4), 10))).toEqual([asked.granted]);
      expect(ids(await store.read.overdueGrants(at(3), 10))).toEqual([]);
      const calls = await store.read.overdueAuthorizations(at(4), 10);
      expect(calls.map((row) => row.tool_call_id)).toEqual(['call 1']);
    });

    it('finds evidence that has waited for its call for too long', async () => {
      const { store } = current();
      const late = (id: string, state: 'unmatched' | 'waiting', received: string) =>
        ({
          op: 'insert',
          table: 'late_results',
          row: {
            late_result_id: id,
            tenant: TENANT,
            source: 'callback',
            capability: 'refund.create',
            reference: 'r-1',
            tool_call_id: null,
            state,
            body_digest: 'sha256:x',
            repeated: 0,
            event_id: 'evt_x',
            received_at: received,
          },
          takenGuard: 'late_result',
        }) as const;
      await write(store, late('a', 'unmatched', at(3)), late('b', 'unmatched', at(2)), late('c', 'waiting', at(1)));
      const ids = async (before: string, limit: number) =>
        (await store.read.unmatchedBefore(before, limit)).map((row) => row.late_result_id);
      expect([await ids(at(1), 10), await ids(at(2), 10), await ids(at(3), 10), await ids(at(3), 1)]).toEqual([
        [],
        ['b'],
        ['b', 'a'],
        ['b'],
      ]);
    });

    it('pages through the calls in some states by id', async () => {
      const { store } = current();
      const statuses: ToolCallStatus[] = [
        'dispatching',
        'completed',
        'result_unknown',
        'dispatching',
        'manual_handoff',
      ];
      await write(store, ...statuses.map((status, index) => callInsert({ tool_call_id: `call ${index}`, status })));
      const idsOf = async (...asked: Parameters<typeof store.read.callsInStates>) =>
        (await store.read.callsInStates(...asked)).map((row) => row.tool_call_id);
      expect(await idsOf(['dispatching', 'result_unknown'], 2, null)).toEqual(['call 0', 'call 2']);
      expect(await idsOf(['dispatching', 'result_unknown'], 2, 'call 2')).toEqual(['call 3']);
      expect(await idsOf(['completed', 'manual_handoff'], 9, null)).toEqual(['call 1', 'call 4']);
      expect(await idsOf([], 9, null)).toEqual([]);
    });

    it('counts calls that may still need somebody by status, without handoffs that have a finding', async () => {
      const { store } = current();
      expect([...(await store.read.openCallCounts())]).toEqual([]);
      const statuses: ToolCallStatus[] = ['result_unknown', 'result_unknown', 'reconciling', 'completed', 'denied'];
      await write(
        store,
        ...statuses.map((status, index) => callInsert({ tool_call_id: `call ${index}`, status })),
        callInsert({ tool_call_id: 'open handoff', status: 'manual_handoff' }),
        callInsert({ tool_call_id: 'found handoff', status: 'manual_handoff', resolution_finding: 'happened' }),
      );
      expect(new Map(await store.read.openCallCounts())).toEqual(
        new Map([
          ['result_unknown', 2],
          ['reconciling', 1],
          ['manual_handoff', 1],
        ]),
      );
    });

    it('counts approvals that wait for people', async () => {
      const { store } = current();
      expect(await store.read.pendingApprovals()).toBe(0);
      await write(
        store,
        approvalInsert('apr 1', { status: 'pending' }),
        approvalInsert('apr 2', { status: 'pending' }),
        approvalInsert('apr 3', { status: 'granted', executeBy: at(9), decidedBy: [] }),
      );
      expect(await store.read.pendingApprovals()).toBe(2);
    });

    it('finds the open run of a label and not one that has ended', async () => {
      const { store } = current();
      const principal = principalKey(PRINCIPAL);
      await write(
        store,
        runInsert('run ended', { label: 'nightly', status: 'completed' }),
        runInsert('run open', { label: 'nightly', status: 'interrupted' }),
        runInsert('run other', { label: 'daily' }),
      );
      expect((await store.read.openRunByLabel(TENANT, principal, 'nightly'))?.run_id).toBe('run open');
      expect(await store.read.openRunByLabel(TENANT, 'somebody else', 'nightly')).toBeNull();
    });

    it('counts what is open in a run', async () => {
      const { store } = current();
      const statuses: ToolCallStatus[] = ['proposed', 'reconciling', 'completed', 'manual_handoff', 'denied'];
      await write(
        store,
        ...statuses.map((status) => callInsert({ tool_call_id: newId('toolCall'), run_id: 'run', status })),
      );
      expect(await store.read.openCallCount(TENANT, 'run')).toBe(2);
      expect(await store.read.openCallCount(TENANT, 'another run')).toBe(0);
      const asked = approvalInsert(newId('approval'), { status: 'pending' });
      await write(store, asked, approvalInsert(newId('approval'), { status: 'denied', decidedBy: [] }));
      const runId = asked.op === 'insert' && asked.table === 'approvals' ? asked.row.run_id : '';
      expect(await store.read.pendingApprovalCount(TENANT, runId)).toBe(1);
    });

    it('takes an implicit run for idle when nothing of it is open and nothing has changed', async () => {
      const { store } = current();
      const call = (run_id: string, updated_at: string, status: ToolCallStatus): Write =>
        callInsert({ tool_call_id: newId('toolCall'), run_id, created_at: at(0), updated_at, status });
      await write(
        store,
        ...['idle', 'empty', 'open call', 'late result'].map((runId) => runInsert(runId, { updated_at: at(1) })),
        runInsert('young', { updated_at: at(10) }),
        runInsert('explicit', { updated_at: at(1), implicit: 0 }),
        runInsert('stopping', { updated_at: at(1), status: 'stopping' }),
        call('idle', at(2), 'completed'),
        call('open call', at(2), 'result_unknown'),
        call('late result', at(9), 'completed'),
      );
      const idle = await store.read.idleImplicitRuns(at(5), 10);
      expect(idle.map(({ run_id }) => run_id).sort()).toEqual(['empty', 'idle']);
      expect(await store.read.idleImplicitRuns(at(5), 1)).toHaveLength(1);
    });

    it('tells what is in force in the installation', async () => {
      const { store } = current();
      const capability = (version: string, state: 'active' | 'superseded' | 'held'): Write => ({
        op: 'put',
        table: 'capabilities',
        row: {
          name: 'refund',
          version,
          manifest_digest: 'd',
          state,
          stream_version: 1,
          last_event_id: newId('event'),
          updated_at: at(0),
        },
      });
      const policy = {
        scope: '*',
        revision: 'r',
        schema_digest: 's',
        stream_version: 1,
        activated_event_id: null,
        activated_at: at(0),
      };
      const pause = {
        tenant: TENANT,
        target_kind: 'all',
        target: '*',
        reason: null,
        set_event_id: 'e',
        set_at: at(0),
      } as const;
      await write(
        store,
        capability('1', 'superseded'),
        capability('2', 'held'),
        { op: 'put', table: 'policy_active', row: policy },
        { op: 'insert', table: 'pauses', row: pause, takenGuard: 'pause' },
        metaInsert('guard/pauses', '1'),
      );
      expect((await store.read.capability('refund'))?.version).toBe('2');
      expect((await store.read.capabilityVersion('refund', '1'))?.state).toBe('superseded');
      expect(await store.read.capability('unknown')).toBeNull();
      expect(await store.read.activePolicy('*')).toEqual(policy);
      expect(await store.read.pauses()).toEqual([pause]);
      expect(await store.read.meta('guard/pauses')).toBe('1');
    });

    it('pages through events in order, for one tenant or for all', async () => {
      const { store } = current();
      const tenants = ['a', 'b', 'a', 'b', 'a'];
      for (const [index, tenant] of tenants.entries()) {
        const append = {
          stream: { kind: 'policy', id: tenant } as const,
          expectedVersion: Math.floor(index / 2),
          events: [event('policy.activation_refused', { problems: [index] })],
        };
        await store.commit(unit({ tenant, appends: [append] }));
      }
      const positions = async (after: number, limit: number, tenant: string | null) =>
        (await store.read.eventsAfter(after, limit, tenant)).map(({ position }) => position);
      expect(await positions(-1, 3, null)).toEqual([0, 1, 2]);
      expect(await positions(2, 3, null)).toEqual([3, 4]);
      expect(await positions(4, 3, null)).toEqual([]);
      expect(await positions(-1, 2, 'a')).toEqual([0, 2]);
      expect(await positions(2, 2, 'a')).toEqual([4]);
    });

    it('names the events of a unit that a command led to', async () => {
      const { store } = current();
      const refs = { commandId: 'cmd-1' };
      const events = [1, 2, 3].map((n) => event('policy.activation_refused', { problems: [n] }, { refs }));
      const whole = unit({ appends: [{ stream: { kind: 'policy', id: 'p' }, expectedVersion: 0, events }] });
      await store.commit(whole);
      expect(await store.read.unitEventIds(TENANT, whole.unitId)).toEqual(events.map(({ eventId }) => eventId));
      expect(await store.read.unitEventIds('globex', whole.unitId)).toEqual([]);
    });

    it('counts denials of one intent by who denied it, from a time on and in one tenant', async () => {
      const { store } = current();
      const intent_digest = `sha256:${newId('toolCall')}`;
      const denied = (status_reason: string, minute: number, more: Partial<TableRow<'tool_calls'>> = {}): Write =>
        callInsert({ status: 'denied', status_reason, intent_digest, updated_at: at(minute), ...more });
      const writes = [
        denied('policy', 1),
        denied('approval', 2),
        denied('policy_at_dispatch', 3),
        denied('policy', 4, { tenant: 'globex' }),
        denied('policy', 5, { intent_digest: 'sha256:other' }),
        denied('policy', 6, { status: 'not_executed' }),
      ];
      await store.commit(unit({ writes }));
      expect(await store.read.denialsSince(TENANT, intent_digest, at(0))).toEqual({ byPeople: 1, byPolicy: 2 });
      expect(await store.read.denialsSince(TENANT, intent_digest, at(2))).toEqual({ byPeople: 1, byPolicy: 1 });
      expect(await store.read.denialsSince(TENANT, intent_digest, at(4))).toEqual({ byPeople: 0, byPolicy: 0 });
    });

    it('knows whether a principal has used a capability before, the call itself left out', async () => {
      const { store } = current();
      const row = {
        tenant: TENANT,
        principal: principalKey(PRINCIPAL),
        capability: 'used.before',
        key_hash: newId('toolCall'),
        intent_digest: 'sha256:x',
        tool_call_id: 'call_first',
        created_at: at(0),
      };
      await store.commit(unit({ writes: [{ op: 'insert', table: 'idempotency', row, takenGuard: 'idempotency' }] }));
      const used = (tenant: string, capability: string, toolCallId: string) =>
        store.read.usedBefore(tenant, row.principal, capability, toolCallId);
      expect(await used(TENANT, 'used.before', 'call_second')).toBe(true);
      expect(await used(TENANT, 'used.before', 'call_first')).toBe(false);
      expect(await used(TENANT, 'used.never', '')).toBe(false);
      expect(await used('globex', 'used.before', '')).toBe(false);
    });

    it('finds counters before a time that no open call may give back to', async () => {
      const { store } = current();
      const prefix = `t-${newId('toolCall')}/`;
      const key = (minute: number, name: string): string => `${prefix}${at(minute)}/${name}`;
      const reserved = (...keys: string[]): string =>
        JSON.stringify(keys.map((each) => ({ key: each, add: 1, max: 9 })));
      const keys = [key(1, 'free'), key(2, 'open'), key(3, 'done'), key(4, 'found'), key(5, 'handed'), key(9, 'later')];
      const writes = [
        callInsert({ status: 'result_unknown', reserved: reserved(key(0, 'none'), key(2, 'open')) }),
        callInsert({ status: 'completed', reserved: reserved(key(3, 'done')) }),
        callInsert({ status: 'manual_handoff', reserved: reserved(key(4, 'found')), resolution_finding: 'happened' }),
        callInsert({ status: 'manual_handoff', reserved: reserved(key(5, 'handed')) }),
        callInsert({ status: 'proposed', tenant: 'globex', reserved: reserved(key(1, 'free')) }),
      ];
      const counters = keys.map((each) => ({ tenant: TENANT, key: each, add: 1, max: null }));
      await store.commit(unit({ writes, counters }));
      const found = async (limit: number) =>
        (await store.read.endedCounters(prefix, at(8), limit)).map(({ counter_key }) => counter_key);
      expect(await found(10)).toEqual([key(1, 'free'), key(3, 'done'), key(4, 'found')]);
      expect(await found(2)).toEqual([key(1, 'free'), key(3, 'done')]);
    });
  });
}
