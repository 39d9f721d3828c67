import { describe, expect, it } from '@jest/globals';
import { question } from '../../../test/builders/approval-examples.js';
import { MemoryStore } from '../../../test/builders/memory-store.js';
import { countedIds, ManualClock } from '../../../test/builders/manual-clock.js';
import { sessionState } from '../rows/session.row.js';
import { GuardFailed } from '../unit.js';
import { ApprovalInUnit } from './approval-in-unit.js';
import { archiveCheckpoints } from './checkpoint-in-unit.js';
import { loadedSession, SessionInUnit, sessionIsOwned, type SessionBefore } from './session-in-unit.js';
import { UnitDraft } from './unit-draft.js';
import { recordCheckpoint } from './wait-checkpoint.js';

const START = '2031-01-01T09:00:00.000Z';
const clock = new ManualClock(START);
const ids = countedIds(clock);
const KEY = { tenant: 'acme', sessionId: 'chat' };
const NEW: SessionBefore = {
  state: null,
  facts: { tenant: 'acme', session_id: 'chat', version: 0, created_at: START, updated_at: START },
};

const draftOf = (more: { readonly synthetic?: true } = {}): UnitDraft =>
  new UnitDraft(ids, {
    tenant: 'acme',
    lane: 'govern',
    actor: { sub: 'alice' },
    correlationId: 'chat',
    occurredAt: START,
    causationId: null,
    causeKind: 'external',
    ...more,
  });

async function openedStore(): Promise<MemoryStore> {
  const store = new MemoryStore(clock);
  const draft = draftOf();
  new SessionInUnit(draft, NEW)
    .do({ kind: 'open', opening: { principal: { sub: 'alice' }, formatVersion: 1 } })
    .do({ kind: 'attach', harnessInstanceId: 'harness-a', harnessVersion: null });
  await store.commit(draft.build());
  return store;
}

const rowOf = async (store: MemoryStore) => {
  const row = await store.read.session('acme', 'chat');
  if (row === null) throw new Error('no row');
  return row;
};

describe('the record of a session in a unit', () => {
  it('is one row that says what its stream says, under an id of its tenant', async () => {
    const store = await openedStore();
    expect(store.lastTypes).toEqual(['session.opened', 'session.harness_attached']);
    expect(store.events[0]?.envelope).toMatchObject({
      streamKind: 'session',
      streamId: 'acme/chat',
      sessionId: 'chat',
    });
    const row = await rowOf(store);
    expect(row).toMatchObject({ version: 2, owner_epoch: 1, status: 'open' });
    expect(sessionState(row)).toEqual({
      status: 'open',
      principal: { sub: 'alice' },
      ownerEpoch: 1,
      harnessInstanceId: 'harness-a',
      parent: null,
    });
  });

  it('lets one of two attachments at the same time win', async () => {
    const store = await openedStore();
    const before = loadedSession(await rowOf(store));
    const attach = (name: string): UnitDraft => {
      const draft = draftOf();
      new SessionInUnit(draft, before).do({ kind: 'attach', harnessInstanceId: name, harnessVersion: null });
      return draft;
    };
    await store.commit(attach('harness-b').build());
    await expect(store.commit(attach('harness-c').build())).rejects.toThrow(GuardFailed);
    expect(await rowOf(store)).toMatchObject({ owner_epoch: 2, harness_instance_id: 'harness-b' });
  });

  it('holds a unit to the present owner', async () => {
    const store = await openedStore();
    const held = (epoch: number) =>
      draftOf()
        .guard(sessionIsOwned(KEY, epoch))
        .write({ op: 'put', table: 'meta', row: { name: 'x', value: 'y' } });
    await store.commit(held(1).build());
    await expect(store.commit(held(2).build())).rejects.toMatchObject({ guard: 'session_owner' });
  });

  it('refuses with the code of its machine', () => {
    const existing = { ...NEW, state: null };
    expect(() => new SessionInUnit(draftOf(), existing).do({ kind: 'delete', deletion: {} })).toThrow(
      'no such session',
    );
  });
});

describe('a checkpoint in a unit', () => {
  it('is made for runs of sessions only, and says who made it', async () => {
    const store = new MemoryStore(clock);
    const draft = draftOf({ synthetic: true });
    expect(recordCheckpoint(draft, { runId: 'run_1', sessionId: 'run_1' }, 'awaiting_approval')).toBeNull();
    expect(recordCheckpoint(draft, { runId: 'run_1', sessionId: 'chat', turnId: 't' }, 'recovered')).toMatch(/^chk_/);
    await store.commit(draft.build());
    expect(store.events.map(({ envelope }) => [envelope.eventType, envelope.producer, envelope.turnId])).toEqual([
      ['checkpoint.created', 'recovery', 't'],
    ]);
    const [open] = await store.read.openCheckpoints('acme', 'run_1');
    expect(open).toMatchObject({ kind: 'recovered', status: 'open', turn_id: 't', session_id: 'chat' });
  });

  it('is archived with the end of its run, once', async () => {
    const store = new MemoryStore(clock);
    const made = draftOf();
    recordCheckpoint(made, { runId: 'run_1', sessionId: 'chat' }, 'suspended');
    await store.commit(made.build());
    const ending = draftOf();
    archiveCheckpoints(ending, await store.read.openCheckpoints('acme', 'run_1'));
    await store.commit(ending.build());
    expect(store.lastTypes).toEqual(['checkpoint.archived']);
    expect(await store.read.openCheckpoints('acme', 'run_1')).toEqual([]);
  });
});

describe('a wait of a run of a session', () => {
  it('has its checkpoint in the unit that asks people [K-80]', async () => {
    const store = new MemoryStore(clock);
    const draft = draftOf();
    const facts = {
      approval_id: 'apr_1',
      tenant: 'acme',
      tool_call_id: 'call_1',
      run_id: 'run_1',
      session_id: 'chat',
      principal: '["alice"]',
      version: 0,
      supersedes_approval_id: null,
      required_event_id: '',
      last_event_id: '',
      created_at: START,
      updated_at: START,
    };
    const refs = { toolCallId: 'call_1', runId: 'run_1', sessionId: 'chat' };
    new ApprovalInUnit(draft, { state: null, facts }, refs).do({ kind: 'ask', question: question() });
    await store.commit(draft.build());
    expect(store.lastTypes).toEqual(['approval.required', 'checkpoint.created']);
    expect(await store.read.openCheckpoints('acme', 'run_1')).toMatchObject([{ kind: 'awaiting_approval' }]);
  });
});
