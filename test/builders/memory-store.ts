import type { CommittedEvent, StreamRef } from '../../src/domain/events/envelope.js';
import { payloadProblem } from '../../src/domain/events/payload-shape.js';
import { TABLE_COLUMNS } from '../../src/storage/rows/columns.js';
import { domainEventOf } from '../../src/domain/events/domain-event.js';
import { CATALOGUE } from '../../src/domain/events/catalogue.js';
import { isEnded } from '../../src/domain/run/run.state.js';
import { isTerminal, type ToolCallStatus } from '../../src/domain/tool-call/tool-call.state.js';
import { EMPTY_TREE, withLeaves } from '../../src/ledger/core/compact-tree.js';
import type { BackupManifest } from '../../src/storage/backup-manifest.js';
import { Custody, type RewrapProgress } from '../../src/storage/custody.js';
import { LocalKeyRing } from '../../src/storage/local-key-ring.js';
import type { Comparison } from '../../src/storage/hold.js';
import { headOf, type StoreHead } from '../../src/storage/store-head.js';
import { Feed } from '../../src/storage/feed.js';
import type { LeaseReader } from '../../src/storage/readers/lease.reader.js';
import type { SinkReader, StoreReader } from '../../src/storage/readers/store-reader.js';
import { planReviewReads } from './plan-review-reads.js';
import { standingReads } from './standing-reads.js';
import { TABLE_KEYS } from '../../src/storage/rows/table-rules.js';
import type { SessionReader } from '../../src/storage/readers/session-records.js';
import { jsonDigest } from '../../src/domain/digests/digests.js';
import type { TableName, TableRow } from '../../src/storage/rows/tables.js';
import { Store, type InstanceRef, type StoreStatus } from '../../src/storage/store.js';
import { GuardFailed, type Committed, type Expectation, type Unit, type Write } from '../../src/storage/unit.js';
import type { Clock } from '../../src/system/clock.js';
import { memoryPolicyReader } from './memory-policy-reader.js';
import { SystemRandom } from '../../src/system/random-source.js';

type Row = Record<string, string | number | null>;

/** Keeps nothing outside: specs say what was known of the store. */
export class MemoryCustody extends Custody {
  override comparison: Comparison = { finding: null, complete: false };
  override known: StoreHead | null = null;
  kept = 0;
  override readonly keyRing = new LocalKeyRing(new Uint8Array(32).fill(7), new SystemRandom());

  constructor(private readonly size: () => number) {
    super();
  }

  override async head(): Promise<StoreHead> {
    const leaves = Array.from({ length: this.size() }, () => new Uint8Array(32));
    return headOf(withLeaves(EMPTY_TREE, leaves), leaves.length === 0 ? null : '00'.repeat(32));
  }

  override async rewrap(): Promise<RewrapProgress> {
    return { moved: 0, next: null, outstanding: [] };
  }

  override async releaseOtherKeys(): Promise<void> {}

  override async keep(): Promise<void> {
    this.kept += 1;
  }

  override backup(): Promise<BackupManifest> {
    return Promise.reject(new Error('a store in memory is not copied'));
  }
}

/**
 * A store in memory for unit specs: it applies units as data, guards and compare-and-set included, keeps every unit it
 * was given, and reads what it wrote. The contract suite, not this, says how a real store behaves.
 */
export class MemoryStore extends Store {
  readonly units: Unit[] = [];
  readonly events: CommittedEvent[] = [];
  override readonly feed = new Feed(0, (listener, error) => {
    throw new Error(`the listener ${listener} threw`, { cause: error });
  });
  override readonly custody = new MemoryCustody(() => this.events.length);
  /** Sessions whose data key is gone: what they sealed cannot be read. */
  readonly erased = new Set<string>();
  override readonly read: StoreReader = reader(this);
  /** Called before a unit is applied; it may throw, or change rows as another writer would. */
  beforeCommit: (unit: Unit) => void = () => {};
  private tables = new Map<TableName, Row[]>();

  constructor(private readonly clock: Clock) {
    super();
  }

  rows<T extends TableName>(table: T): readonly TableRow<T>[] {
    return (this.tables.get(table) ?? []) as unknown as readonly TableRow<T>[];
  }

  /** Puts a row there without a unit. */
  seed<T extends TableName>(table: T, row: TableRow<T>): void {
    this.put(table, row as unknown as Row);
  }

  /** Event types of the newest unit, in reading order. */
  get lastTypes(): readonly string[] {
    return (this.units.at(-1)?.appends ?? []).flatMap(({ events }) => events.map(({ type }) => type));
  }

  override async commit(unit: Unit): Promise<Committed> {
    this.beforeCommit(unit);
    // Copied by hand: what structuredClone makes belongs to another realm, and deep equality tells them apart.
    const before = new Map([...this.tables].map(([table, rows]) => [table, rows.map((row) => ({ ...row }))]));
    const eventsBefore = this.events.length;
    const recordedAt = new Date(this.clock.now()).toISOString();
    try {
      this.apply(unit, recordedAt);
    } catch (error) {
      this.tables = before;
      this.events.length = eventsBefore;
      throw error;
    }
    this.units.push(unit);
    const eventCount = this.events.length - eventsBefore;
    const committed = { unitId: unit.unitId, firstPosition: eventsBefore, eventCount, recordedAt };
    this.feed.publish({ unit, committed });
    return committed;
  }

  override async registerInstance(): Promise<InstanceRef> {
    return { instanceId: 'ins_1', epoch: 1 };
  }

  override whenTakenOver(): void {}

  override status(): StoreStatus {
    const lanes = { settle: 0, govern: 0, admit: 0 };
    return { ok: true, queue: 0, lanes, failure: null, walBytes: 0, reasons: [] };
  }

  override async close(): Promise<void> {}

  versionOf(stream: StreamRef): number {
    return this.stream(stream).length;
  }

  stream({ kind, id }: StreamRef): readonly CommittedEvent[] {
    return this.events.filter(({ envelope }) => envelope.streamKind === kind && envelope.streamId === id);
  }

  counter(tenant: string, key: string): number {
    return this.rows('counters').find((row) => row.tenant === tenant && row.counter_key === key)?.value ?? 0;
  }

  private apply(unit: Unit, now: string): void {
    for (const guard of unit.guards) {
      const present = this.find(guard.table, guard.where, now).length > 0;
      if (present !== (guard.expect === 'present')) throw new GuardFailed(guard.name);
    }
    this.append(unit, now);
    for (const write of unit.writes) this.write(write, now);
    for (const { tenant, key, add, max } of unit.counters) {
      const row = this.rows('counters').find((each) => each.tenant === tenant && each.counter_key === key);
      if (row === undefined && add < 0) continue;
      const value = Math.max(0, (row?.value ?? 0) + add);
      if (max !== null && value > max) throw new GuardFailed(`counter:${key}`);
      this.put('counters', { tenant, counter_key: key, value });
    }
  }

  private append(unit: Unit, recordedAt: string): void {
    const unitSize = unit.appends.reduce((sum, { events }) => sum + events.length, 0);
    let unitIndex = 0;
    for (const { stream, expectedVersion, events } of unit.appends) {
      if (this.versionOf(stream) !== expectedVersion) throw new GuardFailed(`stream:${stream.kind}/${stream.id}`);
      for (const [index, { eventId, type, refs, payload, ...rest }] of events.entries()) {
        domainEventOf(type, payload);
        if (CATALOGUE[type].stream !== stream.kind) throw new Error(`${type} does not belong to ${stream.kind}`);
        const envelope = {
          ...refs,
          ...rest,
          eventId,
          eventType: type,
          schemaVersion: CATALOGUE[type].schemaVersion,
          tenant: unit.tenant,
          streamKind: stream.kind,
          streamId: stream.id,
          version: expectedVersion + index + 1,
          unitId: unit.unitId,
          unitIndex: unitIndex++,
          unitSize,
          recordedAt,
          versionSetId: 'test',
        };
        // What the real writer would refuse must not pass here either.
        const { producers, shape } = CATALOGUE[type];
        const problem = payloadProblem(shape, payload);
        if (problem !== null || !(producers as readonly string[]).includes(envelope.producer)) {
          throw new Error(`the event ${type} may not be written: ${problem ?? 'its producer'}`);
        }
        this.events.push({ position: this.events.length, envelope, payload });
      }
    }
  }

  private write(write: Write, now: string): void {
    switch (write.op) {
      case 'insert': {
        const row = write.row as unknown as Row;
        const taken = this.labelTaken(write.table, row) || this.clientIdTaken(write.table, row);
        if (this.same(write.table, row) !== undefined || taken) throw new GuardFailed(write.takenGuard);
        this.put(write.table, row);
        return;
      }
      case 'put':
        this.put(write.table, write.row as unknown as Row);
        return;
      case 'set': {
        const found = this.find(write.table, write.where, now);
        if (found.length === 0) throw new GuardFailed(write.guard);
        for (const row of found) Object.assign(row, write.set);
        return;
      }
      case 'delete': {
        const gone = new Set(this.find(write.table, write.where, now));
        this.tables.set(
          write.table,
          (this.tables.get(write.table) ?? []).filter((row) => !gone.has(row)),
        );
        return;
      }
    }
  }

  private put(table: TableName, row: Row): void {
    const columns = Object.keys(TABLE_COLUMNS[table]).toSorted();
    const given = Object.keys(row).toSorted();
    if (columns.join() !== given.join()) throw new Error(`a row of ${table} has the columns ${given.join(', ')}`);
    const others = (this.tables.get(table) ?? []).filter((other) => other !== this.same(table, row));
    this.tables.set(table, [...others, { ...row }]);
  }

  private same(table: TableName, row: Row): Row | undefined {
    return (this.tables.get(table) ?? []).find((other) => TABLE_KEYS[table].every((key) => other[key] === row[key]));
  }

  private labelTaken(table: TableName, row: Row): boolean {
    if (table !== 'runs' || row['label'] === null) return false;
    return this.rows('runs').some(
      (run) =>
        !isEnded(run.status) &&
        run.label === row['label'] &&
        run.principal === row['principal'] &&
        run.tenant === row['tenant'],
    );
  }

  private clientIdTaken(table: TableName, row: Row): boolean {
    if (table !== 'run_objects') return false;
    return this.rows('run_objects').some((other) =>
      (['run_id', 'kind', 'client_id'] as const).every((column) => other[column] === row[column]),
    );
  }

  private find(table: TableName, where: Readonly<Record<string, Expectation>>, now: string): Row[] {
    return (this.tables.get(table) ?? []).filter((row) =>
      Object.entries(where).every(([column, expected]) => holds(row[column] ?? null, expected, now)),
    );
  }
}

function sinkRows(store: MemoryStore): SinkReader {
  const parked = (sink: string): readonly TableRow<'sink_parked'>[] =>
    store
      .rows('sink_parked')
      .filter((row) => row.sink === sink)
      .toSorted((left, right) => left.position - right.position)
      .map((row) => ({ ...row }));
  const recordedAt = (position: number): string | null => store.events[position]?.envelope.recordedAt ?? null;
  const cursor = (sink: string): TableRow<'sink_cursors'> | null => {
    const row = store.rows('sink_cursors').find((other) => other.sink === sink);
    return row === undefined ? null : { ...row };
  };
  return {
    sinkCursor: async (sink) => cursor(sink),
    sinkCursors: async () => store.rows('sink_cursors').map((row) => ({ ...row })),
    parkedDeliveries: async (sink, limit) =>
      parked(sink)
        .filter(({ state }) => state === 'parked')
        .slice(0, limit),
    parkedBeyond: async (sink, position) =>
      parked(sink)
        .filter((row) => row.position > position)
        .map((row) => row.position),
    deadLetters: async (sink, after, limit) =>
      store
        .rows('sink_parked')
        .filter((row) => row.state === 'dead' && row.position > after && (sink === null || row.sink === sink))
        .toSorted((left, right) => left.position - right.position)
        .slice(0, limit)
        .map((row) => {
          const { eventId = '', eventType = '', tenant = '' } = store.events[row.position]?.envelope ?? {};
          const event = { event_id: eventId, event_type: eventType, tenant };
          return { ...row, ...event, recorded_at: recordedAt(row.position) ?? '' };
        }),
    sinkBacklog: async (sink) => {
      const rows = parked(sink);
      const [oldest] = rows.filter(({ state }) => state === 'parked');
      const waiting = [recordedAt((cursor(sink)?.position ?? -1) + 1), oldest && recordedAt(oldest.position)];
      return {
        parked: rows.filter(({ state }) => state === 'parked').length,
        dead: rows.filter(({ state }) => state === 'dead').length,
        waitingSince: waiting.filter((at) => typeof at === 'string').toSorted()[0] ?? null,
      };
    },
  };
}

function leaseRows(store: MemoryStore): LeaseReader {
  const many = (match: (row: TableRow<'leases'>) => boolean, limit = 1000) =>
    store
      .rows('leases')
      .filter(match)
      .toSorted((left, right) => (left.lease_id < right.lease_id ? -1 : 1))
      .slice(0, limit)
      .map((row) => ({ ...row }));
  const isLive = ({ status }: TableRow<'leases'>): boolean => status === 'issued' || status === 'active';
  return {
    lease: async (tenant, id) => many((row) => row.tenant === tenant && row.lease_id === id)[0] ?? null,
    actLease: async (tenant, callId, attempt) =>
      many(
        (row) =>
          row.tenant === tenant &&
          row.tool_call_id === callId &&
          row.attempt === attempt &&
          row.kind === 'act' &&
          row.status !== 'refused',
      ).at(-1) ?? null,
    liveLeasesOfRun: async (tenant, runId) =>
      many((row) => row.tenant === tenant && row.run_id === runId && isLive(row)),
    liveLeases: async (limit, afterId) => many((row) => isLive(row) && row.lease_id > (afterId ?? ''), limit),
    overdueLeases: async (now, limit) => many((row) => isLive(row) && row.expires_at <= now, limit),
    leasesAliveUpstream: async (limit, afterId) =>
      many(
        (row) => ['revoking', 'revoke_failed', 'irrevocable'].includes(row.status) && row.lease_id > (afterId ?? ''),
        limit,
      ),
    leases: async ({ tenant, statuses, toolCallId, runId, limit }) => ({
      rows: many(
        (row) =>
          row.tenant === tenant &&
          (statuses === undefined || statuses.includes(row.status)) &&
          (toolCallId === undefined || row.tool_call_id === toolCallId) &&
          (runId === undefined || row.run_id === runId),
        limit,
      ).toReversed(),
      nextCursor: null,
    }),
  };
}

function holds(value: string | number | null, expected: Expectation, now: string): boolean {
  if (expected === null || typeof expected !== 'object') return value === expected;
  if ('oneOf' in expected) return value !== null && expected.oneOf.includes(value);
  if (typeof value !== 'string') return false;
  return expected.clock === 'after_now' ? value > now : value <= now;
}

function reader(store: MemoryStore): StoreReader {
  const one = async <T extends TableName>(
    table: T,
    match: (row: TableRow<T>) => boolean,
  ): Promise<TableRow<T> | null> => {
    const row = store.rows(table).find(match);
    return row === undefined ? null : { ...row };
  };
  const many = async <T extends TableName>(
    table: T,
    match: (row: TableRow<T>) => boolean,
    limit = 1000,
  ): Promise<readonly TableRow<T>[]> =>
    store
      .rows(table)
      .filter(match)
      .slice(0, limit)
      .map((row) => ({ ...row }));
  return {
    toolCall: (tenant, id) => one('tool_calls', (row) => row.tenant === tenant && row.tool_call_id === id),
    attempt: (tenant, id, n) =>
      one('attempts', (row) => row.tenant === tenant && row.tool_call_id === id && row.attempt === n),
    handoff: (tenant, id) => one('handoffs', (row) => row.tenant === tenant && row.handoff_id === id),
    toolCalls: async ({ tenant, statuses, runId, limit }) => ({
      rows: await many(
        'tool_calls',
        (row) =>
          row.tenant === tenant &&
          (statuses === undefined || statuses.includes(row.status)) &&
          (runId === undefined || row.run_id === runId),
        limit,
      ),
      nextCursor: null,
    }),
    approval: (tenant, id) => one('approvals', (row) => row.tenant === tenant && row.approval_id === id),
    votes: (tenant, id) => many('approval_votes', (row) => row.tenant === tenant && row.approval_id === id),
    ...standingReads(store),
    ...planReviewReads(store),
    approvals: async ({ tenant, statuses, limit, batchId, reviewOwedOnly }) => ({
      rows: await many(
        'approvals',
        (row) =>
          row.tenant === tenant &&
          (statuses === undefined || statuses.includes(row.status)) &&
          (batchId === undefined || row.batch_id === batchId) &&
          (reviewOwedOnly !== true || row.review_owed === 1),
        limit,
      ),
      nextCursor: null,
    }),
    run: (tenant, id) => one('runs', (row) => row.tenant === tenant && row.run_id === id),
    openRunByLabel: (tenant, principal, label) =>
      one(
        'runs',
        (row) => row.tenant === tenant && row.principal === principal && row.label === label && !isEnded(row.status),
      ),
    ...sessionRecords(store, one, many),
    secrets: async (tenant) =>
      (await many('secrets', (row) => row.tenant === tenant)).toSorted((a, b) => a.version - b.version),
    revokedTokens: (now) => many('revoked_tokens', (row) => row.until > now),
    openCallCount: async (_tenant, runId) =>
      (await many('tool_calls', (row) => row.run_id === runId && !isTerminal(row.status))).length,
    pendingApprovalCount: async (_tenant, runId) =>
      (await many('approvals', (row) => row.run_id === runId && row.status === 'pending')).length,
    callsInStop: (tenant, runId, since) =>
      many(
        'tool_calls',
        (row) => row.tenant === tenant && row.run_id === runId && (row.updated_at >= since || !isTerminal(row.status)),
      ),
    stoppingRuns: (limit) => many('runs', (row) => row.status === 'stopping', limit),
    idleImplicitRuns: (before, limit) =>
      many(
        'runs',
        (row) =>
          row.implicit === 1 &&
          row.status === 'running' &&
          row.updated_at < before &&
          !store.rows('tool_calls').some((call) => call.run_id === row.run_id && !isTerminal(call.status)),
        limit,
      ),
    openCalls: (tenant, runId, limit) =>
      many('tool_calls', (row) => row.tenant === tenant && row.run_id === runId && !isTerminal(row.status), limit),
    questionsOfRun: (tenant, runId, limit) =>
      many('approvals', (row) => row.tenant === tenant && row.run_id === runId && row.status === 'pending', limit),
    runObject: (tenant, id) => one('run_objects', (row) => row.tenant === tenant && row.object_id === id),
    runObjectByClientId: (tenant, runId, kind, clientId) =>
      one(
        'run_objects',
        (row) => row.tenant === tenant && row.run_id === runId && row.kind === kind && row.client_id === clientId,
      ),
    runObjects: async (tenant, runId, kind, limit) =>
      (await many('run_objects', (row) => row.tenant === tenant && row.run_id === runId && row.kind === kind))
        .toReversed()
        .slice(0, limit),
    runEvents: async (tenant, runId, after, limit) =>
      store.events
        .filter(({ position, envelope }) => envelope.tenant === tenant && envelope.runId === runId && position > after)
        .slice(0, limit),
    runEventsBetween: async (tenant, runId, after, upTo) =>
      store.events.filter(
        ({ position, envelope }) =>
          envelope.tenant === tenant && envelope.runId === runId && position > after && position <= upTo,
      ),
    runStart: async (_tenant, runId) => store.stream({ kind: 'run', id: runId })[0] ?? null,
    callCountUpTo: async (tenant, runId, max) =>
      (await many('tool_calls', (row) => row.tenant === tenant && row.run_id === runId, max)).length,
    ...leaseRows(store),
    outcome: (tenant, id) => one('outcomes', (row) => row.tenant === tenant && row.tool_call_id === id),
    outcomeFeedback: (tenant, id, source, feedbackId) =>
      one(
        'outcome_feedback',
        (row) =>
          row.tenant === tenant && row.tool_call_id === id && row.source === source && row.feedback_id === feedbackId,
      ),
    overdueOutcomes: (now, limit) => many('outcomes', (row) => row.status === 'pending' && row.deadline <= now, limit),
    idempotency: (tenant, principal, capability, hash) =>
      one(
        'idempotency',
        (row) =>
          row.tenant === tenant &&
          row.principal === principal &&
          row.capability === capability &&
          row.key_hash === hash,
      ),
    openIntents: (tenant, principal, capability, digest) =>
      many(
        'open_intents',
        (row) =>
          row.tenant === tenant &&
          row.principal === principal &&
          row.capability === capability &&
          row.intent_digest === digest,
      ),
    callId: (_tenant, runId, turnId, callId) =>
      one('call_ids', (row) => row.run_id === runId && row.turn_id === turnId && row.call_id === callId),
    command: (tenant, id) => one('control_commands', (row) => row.tenant === tenant && row.command_id === id),
    workOf: (tenant, id) => one('work', (row) => row.tenant === tenant && row.tool_call_id === id),
    dueWork: (kind, now, limit) =>
      many(
        'work',
        (row) => row.kind === kind && row.next_at <= now && (row.claim_until === null || row.claim_until <= now),
        limit,
      ),
    nextWorkAt: async (kind) =>
      (await many('work', (row) => row.kind === kind && row.claim_until === null))
        .map((row) => row.next_at)
        .toSorted()[0] ?? null,
    overdueApprovals: (now, limit) =>
      many('approvals', (row) => row.status === 'pending' && row.decide_by <= now, limit),
    overdueGrants: (now, limit) =>
      many('approvals', (row) => row.status === 'granted' && (row.execute_by ?? '~') <= now, limit),
    overdueAuthorizations: (now, limit) =>
      many('tool_calls', (row) => row.status === 'authorized' && (row.execute_by ?? '~') <= now, limit),
    questionsOutsideOf: (revision, digests, limit) =>
      many(
        'approvals',
        (row) =>
          row.status === 'pending' && !(row.policy_revision === revision && digests.includes(row.manifest_digest)),
        limit,
      ),
    openCallCounts: async () => {
      const counts = new Map<ToolCallStatus, number>();
      for (const { status, resolution_finding } of store.rows('tool_calls')) {
        const isOpen = status === 'manual_handoff' ? resolution_finding === null : !isTerminal(status);
        if (isOpen) counts.set(status, (counts.get(status) ?? 0) + 1);
      }
      return counts;
    },
    pendingApprovals: async () => store.rows('approvals').filter(({ status }) => status === 'pending').length,
    callsInStates: (statuses, limit, afterId) =>
      many('tool_calls', (row) => statuses.includes(row.status) && row.tool_call_id > (afterId ?? ''), limit),
    capability: (name) => one('capabilities', (row) => row.name === name && row.state !== 'superseded'),
    capabilityVersion: (name, version) => one('capabilities', (row) => row.name === name && row.version === version),
    activePolicy: (scope) => one('policy_active', (row) => row.scope === scope),
    pauses: () => many('pauses', () => true),
    heldCapabilities: async () =>
      (await many('capabilities', (row) => row.state === 'held')).map(({ name }) => name).toSorted(),
    lateResult: (id) => one('late_results', (row) => row.late_result_id === id),
    waitingLateResults: async (id) =>
      (await many('late_results', (row) => row.tool_call_id === id && row.state === 'waiting')).toSorted((a, b) =>
        a.received_at < b.received_at ? -1 : 1,
      ),
    callsWithWaitingResults: async (limit, afterId) => {
      const rows = await many('late_results', (row) => row.state === 'waiting');
      const ids = rows.flatMap((row) => (row.tool_call_id === null ? [] : [row.tool_call_id])).toSorted();
      return [...new Set(ids)].filter((id) => id > (afterId ?? '')).slice(0, limit);
    },
    unmatchedLateResults: (capability, reference, limit) =>
      many(
        'late_results',
        (row) => row.state === 'unmatched' && row.capability === capability && row.reference === reference,
        limit,
      ),
    unmatchedBefore: (before, limit) =>
      many('late_results', (row) => row.state === 'unmatched' && row.received_at <= before, limit),
    matchableLateResults: (limit) =>
      many(
        'late_results',
        (row) =>
          row.state === 'unmatched' &&
          store
            .rows('tool_calls')
            .filter((call) => call.capability === row.capability && call.external_request_id === row.reference)
            .length === 1,
        limit,
      ),
    callAnywhere: (id) => one('tool_calls', (row) => row.tool_call_id === id),
    callOfKey: async (key) => (await one('late_keys', (row) => row.downstream_key === key))?.tool_call_id ?? null,
    callsByReference: (capability, reference) =>
      many('tool_calls', (row) => row.capability === capability && row.external_request_id === reference, 2),
    contradictedCount: async () => (await many('tool_calls', (row) => row.contradicted === 1)).length,
    meta: async (name) => (await one('meta', (row) => row.name === name))?.value ?? null,
    counter: async (tenant, key) => store.counter(tenant, key),
    denialsSince: async (tenant, intentDigest, since) => {
      const rows = await many(
        'tool_calls',
        (row) =>
          row.tenant === tenant &&
          row.intent_digest === intentDigest &&
          row.status === 'denied' &&
          row.updated_at >= since,
      );
      const byPeople = rows.filter((row) => row.status_reason === 'approval').length;
      return { byPeople, byPolicy: rows.length - byPeople };
    },
    usedBefore: async (tenant, principal, capability, toolCallId) =>
      (await one(
        'idempotency',
        (row) =>
          row.tenant === tenant &&
          row.principal === principal &&
          row.capability === capability &&
          row.tool_call_id !== toolCallId,
      )) !== null,
    endedCounters: async (prefix, before, limit) => {
      const held = (key: string): boolean =>
        store
          .rows('tool_calls')
          .some(
            (row) =>
              row.reserved?.includes(JSON.stringify(key)) === true &&
              row.resolution_finding === null &&
              !['completed', 'failed', 'denied', 'not_executed'].includes(row.status),
          );
      return many(
        'counters',
        (row) => row.counter_key >= prefix && row.counter_key < `${prefix}${before}` && !held(row.counter_key),
        limit,
      );
    },
    instances: () => many('instances', () => true),
    ...sinkRows(store),
    ...memoryPolicyReader(store, store.erased),
    event: async (tenant, id) =>
      store.events.find(({ envelope }) => envelope.tenant === tenant && envelope.eventId === id) ?? null,
    positionOf: async (tenant, id) =>
      store.events.find(({ envelope }) => envelope.tenant === tenant && envelope.eventId === id)?.position ?? null,
    streamVersion: async (stream) => store.versionOf(stream),
    unitEventIds: async (_tenant, unitId) =>
      store.events
        .filter(({ envelope }) => envelope.unitId === unitId && envelope.commandId !== undefined)
        .map(({ envelope }) => envelope.eventId),
    streamEvents: async (_tenant, stream) => store.stream(stream),
    eventsAfter: async (position, limit) => store.events.filter((event) => event.position > position).slice(0, limit),
  };
}

type One = <T extends TableName>(table: T, match: (row: TableRow<T>) => boolean) => Promise<TableRow<T> | null>;
type Many = <T extends TableName>(
  table: T,
  match: (row: TableRow<T>) => boolean,
  limit?: number,
) => Promise<readonly TableRow<T>[]>;

function sessionRecords(store: MemoryStore, one: One, many: Many): SessionReader {
  const factsOf = (tenant: string, sessionId: string, after: number, upTo: number) =>
    store.events
      .filter(({ envelope }) => envelope.tenant === tenant && envelope.sessionId === sessionId)
      .filter(({ envelope }) => envelope.sessionId !== envelope.runId)
      .filter(({ position }) => position > after && position <= upTo)
      .map((event) => ({ event, payloadCommitment: jsonDigest(event.payload) }));
  return {
    session: (tenant, id) => one('sessions', (row) => row.tenant === tenant && row.session_id === id),
    sessions: async (tenant, principal, before, limit) =>
      (await many('sessions', (row) => row.tenant === tenant && (principal === null || row.principal === principal)))
        .toSorted((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1))
        .filter((row) => before === null || keyOf(row) < before.join(' '))
        .slice(0, limit),
    openRunOfSession: (tenant, id) =>
      one('runs', (row) => row.tenant === tenant && row.session_id === id && row.run_id !== id && !isEnded(row.status)),
    openCheckpoints: (tenant, runId) =>
      many('checkpoints', (row) => row.tenant === tenant && row.run_id === runId && row.status === 'open'),
    checkpoint: (tenant, id) => one('checkpoints', (row) => row.tenant === tenant && row.checkpoint_id === id),
    suspendingRuns: (limit) =>
      many('runs', (row) => row.status === 'suspending' && row.session_id !== row.run_id, limit),
    sessionEvents: async (tenant, id, after, limit) => factsOf(tenant, id, after, Infinity).slice(0, limit),
    sessionEventsBetween: async (tenant, id, after, upTo) => factsOf(tenant, id, after, upTo),
  };
}

const keyOf = (row: TableRow<'sessions'>): string => `${row.created_at} ${row.session_id}`;
