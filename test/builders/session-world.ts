import { CountersignError } from '../../src/domain/errors/countersign-error.js';
import type { ErrorCode } from '../../src/domain/errors/error-codes.js';
import type { JsonObject } from '../../src/domain/json/json-value.js';
import { encodeRow } from '../../src/domain/session/row-codec.js';
import type { SessionKey } from '../../src/domain/session/session-key.js';
import type { SessionFact, SessionHeader, SessionRow } from '../../src/domain/session/session-row.js';
import type { AgentState, SessionSnapshot } from '../../src/domain/session/session-state.js';
import type { AppendOptions, PersistenceBackend, StoredLog } from '../../src/sessions/backends/persistence-backend.js';
import { SessionCoordinator, type CoordinatorRules } from '../../src/sessions/session-coordinator.js';
import type { FoldedState, SessionFold } from '../../src/sessions/session-fold.js';
import { SessionRecord, type GovernedEvent, type PersistenceDiagnostic } from '../../src/sessions/session-record.js';
import type { LoadedSnapshot, StateStorage } from '../../src/sessions/snapshots/state-storage.js';
import { AT, GovernedEvents, HEADER, KEY } from './conversation-examples.js';
import { countedIds, ManualClock } from './manual-clock.js';
import { ManualTimers } from './manual-timers.js';

export const refusal = (code: ErrorCode): CountersignError => new CountersignError(code, code);

interface Artefact {
  header: SessionHeader;
  rows: SessionRow[];
  revision: number;
  torn: boolean;
  barrierSeq: number;
}

/** Logs in memory, with faults on demand. Every call is noted in order. */
export class FakeLogs implements PersistenceBackend<string> {
  readonly capabilities = { rawArtifact: true, indexedSuffix: true, atomicRepair: true };
  readonly calls: string[] = [];
  readonly artefacts = new Map<string, Artefact>();
  /** What the next loads and writes reject with, one after another; null: no fault. */
  loadFaults: (Error | null)[] = [];
  writeFaults: (Error | null)[] = [];
  closeFault: Error | null = null;
  /** Runs just before the revision is read. */
  beforeRevision: (() => void) | null = null;
  /** While set, writes wait for it. */
  gate: Promise<void> | null = null;

  /** The log of the usual session, made if there is none. */
  get log(): Artefact {
    return this.at(KEY.sessionId);
  }

  at(sessionId: string): Artefact {
    const there = this.artefacts.get(sessionId);
    if (there !== undefined) return there;
    const made = { header: { ...HEADER, sessionId }, rows: [], revision: 1, torn: false, barrierSeq: -1 };
    this.artefacts.set(sessionId, made);
    return made;
  }

  async loadStored({ sessionId }: SessionKey): Promise<StoredLog<string> | null> {
    this.calls.push('load');
    const fault = this.loadFaults.shift() ?? null;
    if (fault !== null) throw fault;
    const log = this.artefacts.get(sessionId);
    if (log === undefined) return null;
    const { header, rows, revision, barrierSeq } = log;
    return {
      header,
      rows: [...rows],
      revision: String(revision),
      barrierSeq,
      ...(log.torn ? { torn: 'cut here' } : {}),
    };
  }

  async loadStoredFrom(
    { sessionId }: SessionKey,
    fromSeq: number,
    limit: number,
  ): Promise<{ rows: SessionRow[]; revision: string }> {
    this.calls.push(`read ${fromSeq}`);
    const log = this.artefacts.get(sessionId);
    if (log === undefined) throw refusal('session_not_found');
    return { rows: log.rows.slice(fromSeq, fromSeq + limit), revision: String(log.revision) };
  }

  async readStoredRevision({ sessionId }: SessionKey): Promise<string | null> {
    this.beforeRevision?.();
    const log = this.artefacts.get(sessionId);
    return log === undefined ? null : String(log.revision);
  }

  async appendBatch(
    key: SessionKey,
    header: SessionHeader,
    rows: readonly SessionRow[],
    options: AppendOptions,
  ): Promise<{ revision: string }> {
    this.calls.push(
      `append ${key.sessionId} ${rows.map((row) => row.seq).join(',')}${options.barrier ? ' barrier' : ''}`,
    );
    if (this.gate !== null) await this.gate;
    const fault = this.writeFaults.shift() ?? null;
    if (fault !== null) throw fault;
    const isNew = !this.artefacts.has(key.sessionId);
    if (isNew === options.materialized) throw new Error('materialized does not say what is there');
    const log = this.at(key.sessionId);
    if (isNew) log.header = header;
    for (const row of rows) if (!log.rows.some((other) => other.eventId === row.eventId)) log.rows.push(row);
    if (options.barrier) log.barrierSeq = log.rows.length - 1;
    log.revision += 1;
    return { revision: String(log.revision) };
  }

  async commitRepair(
    { sessionId }: SessionKey,
    torn: string | undefined,
    closers: readonly SessionRow[],
  ): Promise<{ revision: string }> {
    this.calls.push(`repair ${torn === undefined ? '' : 'cut '}${closers.length}`);
    const fault = this.writeFaults.shift() ?? null;
    if (fault !== null) throw fault;
    const log = this.at(sessionId);
    log.torn = false;
    log.rows.push(...closers);
    log.barrierSeq = log.rows.length - 1;
    log.revision += 1;
    return { revision: String(log.revision) };
  }

  async readRaw({ sessionId }: SessionKey): Promise<string> {
    return this.at(sessionId)
      .rows.map((row) => encodeRow(row))
      .join('\n');
  }

  async list(): Promise<readonly string[]> {
    return [...this.artefacts.keys()].sort();
  }

  async delete({ sessionId }: SessionKey): Promise<void> {
    this.artefacts.delete(sessionId);
  }

  async close(): Promise<void> {
    this.calls.push('close');
    if (this.closeFault !== null) throw this.closeFault;
  }
}

/** One snapshot in memory. */
export class FakeSnapshots implements StateStorage {
  stored: LoadedSnapshot | Error = refusal('session_not_found');
  saveFault: Error | null = null;
  markFault: Error | null = null;
  marks = 0;

  async load(): Promise<LoadedSnapshot> {
    if (this.stored instanceof Error) throw this.stored;
    return this.stored;
  }

  loadOrCreate(): Promise<LoadedSnapshot> {
    return this.load();
  }

  async save(snapshot: SessionSnapshot): Promise<void> {
    if (this.saveFault !== null) throw this.saveFault;
    this.stored = { snapshot, loadSource: 'main', notResumable: false };
  }

  async delete(): Promise<void> {
    this.stored = refusal('session_not_found');
  }

  async exists(): Promise<boolean> {
    return !(this.stored instanceof Error);
  }

  async markNotResumable(): Promise<void> {
    if (this.markFault !== null) throw this.markFault;
    this.marks += 1;
    if (!(this.stored instanceof Error)) this.stored = { ...this.stored, notResumable: true };
  }

  async close(): Promise<void> {}
}

/** The store, as far as sessions ask it. Units add the governed events that the real ones would. */
export class FakeRecord extends SessionRecord {
  readonly governed = new GovernedEvents();
  readonly units: string[] = [];
  readonly diagnostics: string[] = [];
  ownedElsewhere = false;
  unitFault: Error | null = null;

  override async *governedEvents(_: SessionKey, afterPosition: number): AsyncGenerator<GovernedEvent> {
    for (const entry of this.governed.all) if (entry.event.position > afterPosition) yield entry;
  }

  override async commitInterruption(): Promise<void> {
    this.unit('interruption', () => this.governed.run('run.interrupted', { producer: 'recovery' }));
  }

  override async commitRepaired(): Promise<void> {
    this.unit('repaired', () => this.governed.add('session.repaired', { producer: 'recovery' }));
  }

  override async commitImported(): Promise<void> {
    this.unit('imported', () => this.governed.add('session.imported', { producer: 'recovery' }));
  }

  override async markNotResumable(): Promise<void> {
    this.unit('not resumable', () => this.governed.run('run.marked_not_resumable', { producer: 'recovery' }));
  }

  override async isOwnedElsewhere(): Promise<boolean> {
    return this.ownedElsewhere;
  }

  override audit(name: PersistenceDiagnostic): void {
    this.diagnostics.push(name);
  }

  private unit(name: string, add: () => unknown): void {
    if (this.unitFault !== null) throw this.unitFault;
    this.units.push(name);
    add();
  }
}

/** Counts what it folds: the state shows which facts are in it. */
export const countingFold: SessionFold = {
  start: (sessionId) => ({ agentState: agentStateOf(sessionId), runState: null }),
  fold: (state, facts) => facts.reduce(counted, state),
  pairingProblem: (state, mayEndOpen) =>
    state.metadata['unpaired'] === true && !mayEndOpen ? 'a call has no answer' : null,
};

export function agentStateOf(sessionId: string, metadata: JsonObject = { seqs: [] }): AgentState {
  return {
    schemaVersion: 3,
    sessionId,
    history: { messages: [], episodicMemories: [] },
    usages: [],
    metadata,
    isRunning: false,
    totalLoopCount: 0,
    currentLoopCount: 0,
    currentLoopUsages: [],
    systemReminders: {},
    systemPromptHistory: [],
    toolsHistory: [],
    planReviewApproved: false,
  };
}

function counted(state: FoldedState, fact: SessionFact): FoldedState {
  const seqs = [...(state.agentState.metadata['seqs'] as readonly number[]), fact.seq];
  const isRunning = state.agentState.isRunning || (fact.kind === 'mirror' && fact.envelope.eventType === 'run.started');
  const unpaired =
    fact.kind === 'event' &&
    fact.eventType === 'assistant.message' &&
    fact.payload['toolCalls'] !== undefined &&
    (fact.payload['toolCalls'] as readonly unknown[]).length > 0;
  const metadata = { ...state.agentState.metadata, seqs, ...(unpaired ? { unpaired: true } : {}) };
  return { ...state, agentState: { ...state.agentState, isRunning, metadata } };
}

export const seqsIn = (state: FoldedState): readonly number[] => state.agentState.metadata['seqs'] as readonly number[];

/** Everything around the sessions of one process, in memory and on manual time. */
export class SessionWorld {
  readonly clock = new ManualClock(AT);
  readonly timers = new ManualTimers();
  readonly ids = countedIds(this.clock);

  constructor(
    readonly logs = new FakeLogs(),
    readonly snapshots = new FakeSnapshots(),
    readonly record = new FakeRecord(),
  ) {}

  coordinator(rules: Partial<CoordinatorRules> = {}): SessionCoordinator {
    const media = { backend: this.logs, snapshots: this.snapshots, record: this.record };
    const report = (name: PersistenceDiagnostic): void => this.record.audit(name);
    const environment = { clock: this.clock, ids: this.ids, after: this.timers.after, report };
    return new SessionCoordinator(
      media,
      {
        fold: countingFold,
        holdsSecret: (payload) => JSON.stringify(payload).includes('sk_live_'),
        eventBytesMax: 10_000,
        batchEventsMax: 100,
        rowsKept: 10,
        writeBehind: { delayMs: 200, eventsMax: 1000, bytesMax: 10_000_000 },
        strictSnapshots: false,
        openMax: 100,
        idleCloseMs: 600_000,
        versionSetId: 'v1',
        ...rules,
      },
      environment,
    );
  }
}

/** Everything that is due in this job and those it makes has run. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
