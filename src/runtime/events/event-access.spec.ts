import { beforeEach, describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../../test/builders/manual-clock.js';
import { MemoryStore } from '../../../test/builders/memory-store.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import type { CommittedEvent } from '../../domain/events/envelope.js';
import { principalKey } from '../../domain/principal.js';
import type { Caller, Role } from '../../identity/caller.js';
import type { CommittedUnit } from '../../storage/feed.js';
import { EventAccess, type EventRequest } from './event-access.js';

const NOW = '2031-01-01T00:00:00.000Z';

let store: MemoryStore;
let access: EventAccess;

const eventAt = (position: number, streamId = 'run_x'): CommittedEvent =>
  ({
    position,
    envelope: { tenant: 'acme', streamKind: 'run', streamId, version: 1, eventType: 'run.started' },
    payload: {},
  }) as unknown as CommittedEvent;

beforeEach(() => {
  store = new MemoryStore(new ManualClock(NOW));
  access = new EventAccess(store, settingsWith({ installation: { operatorTenant: 'head-office' } }));
  store.seed('runs', {
    run_id: 'run_1',
    tenant: 'acme',
    principal: principalKey({ sub: 'sam', act: 'agent' }),
    session_id: 'run_1',
    status: 'running',
    version: 1,
    implicit: 1,
    label: null,
    model_leg: 'idle',
    end_reason: null,
    created_at: NOW,
    updated_at: NOW,
  });
  for (let n = 0; n < 9; n += 1) store.events.push(eventAt(n));
  store.events.push(eventAt(9, 'run_1'));
  store.feed.publish({
    unit: { appends: [] },
    committed: { firstPosition: 0, eventCount: 10 },
  } as unknown as CommittedUnit);
});

function caller(role: Role, more: Partial<Caller> = {}): Caller {
  const isAgent = role === 'harness';
  const actor = isAgent ? { sub: 'sam', act: { sub: 'agent' } } : { sub: 'ada' };
  return { tenant: 'acme', actor, roles: [role], groups: [], agentOwner: null, isAgent, ...more };
}

const open = (who: Caller, request: Partial<EventRequest> = {}) =>
  access.open(who, { after: -1, runId: null, types: null, ...request });

describe('who may read which events', () => {
  it('lets operators and auditors read all of their tenant', async () => {
    for (const role of ['operator', 'auditor'] as const) {
      const { scope, after } = await open(caller(role), { after: 3 });
      expect(scope).toEqual({ tenant: 'acme', installation: false, runId: null, types: null });
      expect(after).toBe(3);
    }
  });

  it('gives the events of the installation only to the tenant that operates it, and never within a run', async () => {
    expect((await open(caller('operator', { tenant: 'head-office' }))).scope.installation).toBe(true);
    expect((await open(caller('auditor', { tenant: 'head-office' }))).scope.installation).toBe(true);
    access = new EventAccess(store, settingsWith({ installation: { operatorTenant: 'acme' } }));
    expect((await open(caller('operator'), { runId: 'run_1' })).scope.installation).toBe(false);
    expect((await open(caller('harness'), { runId: 'run_1' })).scope.installation).toBe(false);
    access = new EventAccess(store, settingsWith({ installation: { operatorTenant: null } }));
    expect((await open(caller('operator'))).scope.installation).toBe(false);
  });

  it('lets a harness read a run of its own principal, and nothing else', async () => {
    expect((await open(caller('harness'), { runId: 'run_1' })).scope.runId).toBe('run_1');
    await expect(open(caller('harness'))).rejects.toMatchObject({ code: 'not_authorized' });
    const others: Partial<Caller>[] = [
      { actor: { sub: 'tina', act: { sub: 'agent' } } },
      { actor: { sub: 'sam', act: { sub: 'another' } } },
      { actor: { sub: 'sam' } },
      { tenant: 'umbrella' },
    ];
    for (const other of others) {
      await expect(open(caller('harness', other), { runId: 'run_1' })).rejects.toMatchObject({ code: 'run_not_found' });
    }
    await expect(open(caller('operator'), { runId: 'run_2' })).rejects.toMatchObject({ code: 'run_not_found' });
  });

  it('does not take the word of an agent that says it is an operator', async () => {
    const posing = caller('harness', { roles: ['harness', 'operator', 'auditor'] });
    await expect(open(posing)).rejects.toMatchObject({ code: 'not_authorized' });
  });

  it('begins where the run begins', async () => {
    expect((await open(caller('harness'), { runId: 'run_1' })).after).toBe(8);
    expect((await open(caller('harness'), { runId: 'run_1', after: 9 })).after).toBe(9);
  });
});

describe('a position to go on from', () => {
  it('that no event has yet is refused', async () => {
    for (const after of [10, 11, 5_000]) {
      await expect(open(caller('auditor'), { after })).rejects.toMatchObject({
        code: 'invalid_request',
        details: { pointer: '/after' },
      });
    }
    expect((await open(caller('auditor'), { after: 9 })).after).toBe(9);
  });

  it('that is on disk but not yet in the feed is good', async () => {
    store.events.push(eventAt(10));
    expect((await open(caller('auditor'), { after: 10 })).after).toBe(10);
  });
});
