import type { Database, Statement } from 'better-sqlite3';
import { CATALOGUE } from '../../domain/events/catalogue.js';
import type { EventDefinition } from '../../domain/events/catalogue.js';
import type { EventEnvelope, NewEvent, StreamRef } from '../../domain/events/envelope.js';
import { payloadProblem } from '../../domain/events/payload-shape.js';
import { canonicalBytes, canonicalJson } from '../../domain/json/canonical-json.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import { leafHash, payloadCommitment } from '../../ledger/core/leaf.js';
import type { RandomSource } from '../../system/random-source.js';
import { dataKeyScope } from '../data-key.js';
import type { Dialect } from '../dialect.js';
import { envelopeOf } from '../rows/envelope.js';
import { EVENT_COLUMNS, eventValues } from '../rows/event.row.js';
import type { EvidenceRow } from '../rows/event.row.js';
import { NONCE_BYTES, SALT_BYTES, seal, sealingContext } from '../sealing.js';
import { GuardFailed } from '../unit.js';
import type { Append, Unit } from '../unit.js';
import type { DataKeys } from './data-keys.js';
import type { LeafLog } from './tree-keeper.js';
import { isUniqueConflict, sqliteCode } from './write-failure.js';

/** What the unit's events share. */
export interface UnitFrame {
  readonly unit: Unit;
  readonly unitSize: number;
  readonly nowMs: number;
  readonly recordedAt: string;
}

/** Writes the events of one unit: checked, sealed, hashed, each at the next position. Runs inside the unit's savepoint. */
export class EventWriter {
  private readonly addEvent: Statement<unknown[]>;
  private readonly addPosition: Statement<[number, string]>;
  private readonly hasVersion: Statement<[string, string, number]>;
  private readonly hasPosition: Statement<[string]>;
  private readonly lastPosition: Statement<[]>;
  private next = 0;
  /** Told of every leaf; the writer's own. */
  leaves: LeafLog | null = null;

  constructor(
    database: Database,
    dialect: Dialect,
    private readonly dataKeys: DataKeys,
    private readonly random: RandomSource,
    private readonly versionSetId: string,
  ) {
    this.addEvent = database.prepare<unknown[]>(dialect.insert('events', EVENT_COLUMNS));
    this.addPosition = database.prepare<[number, string]>(dialect.insert('positions', ['idx', 'event_id']));
    this.hasVersion = database.prepare<[string, string, number]>(
      'SELECT 1 FROM events WHERE stream_kind = ? AND stream_id = ? AND version = ?',
    );
    this.hasPosition = database.prepare<[string]>('SELECT 1 FROM positions WHERE event_id = ?');
    this.lastPosition = database.prepare<[]>('SELECT max(idx) FROM positions').pluck();
  }

  /** The position the next event gets. */
  get nextPosition(): number {
    return this.next;
  }

  /** At the start of a transaction: nobody else has written since, but what is read costs nothing to believe. */
  readHead(): void {
    this.next = ((this.lastPosition.get() as number | null) ?? -1) + 1;
  }

  /** Gives the numbers of a unit back that was rolled back. */
  rewind(position: number): void {
    this.next = position;
    this.leaves?.rewind(position);
  }

  /** Throws `GuardFailed` `stream:<kind>/<id>` when a stream is not at its expected version. */
  write(frame: UnitFrame): void {
    const earlier = new Set<string>();
    for (const append of frame.unit.appends) {
      this.checkHead(append);
      append.events.forEach((event, index) => {
        this.checkEvent(append.stream, event, earlier);
        const version = append.expectedVersion + index + 1;
        this.insert(frame, append.stream, version, earlier.size, event);
        earlier.add(event.eventId);
      });
    }
  }

  private checkHead({ stream, expectedVersion, events }: Append): void {
    if (events.length === 0) throw new Error('an append holds no event');
    if (!Number.isSafeInteger(expectedVersion) || expectedVersion < 0)
      throw new Error('an expected version is no version');
    // That no later version exists is left to the unique index, which the insert meets anyway.
    if (expectedVersion > 0 && this.hasVersion.get(stream.kind, stream.id, expectedVersion) === undefined) {
      throw new GuardFailed(streamGuard(stream));
    }
  }

  private checkEvent(stream: StreamRef, event: NewEvent, earlier: ReadonlySet<string>): void {
    const definition = definitionOf(event.type);
    if (definition.stream !== stream.kind) throw new Error(`${event.type} does not belong to a ${stream.kind} stream`);
    if (!definition.producers.includes(event.producer)) {
      throw new Error(`${event.type} may not be produced by this producer`);
    }
    const problem = payloadProblem(definition.shape, event.payload);
    if (problem !== null) throw new Error(`payload of ${event.type}: ${problem}`);
    if ((event.causeKind === 'event') !== (event.causationId !== null)) {
      throw new Error(`${event.type}: a causationId goes with the cause kind "event" and with no other`);
    }
    if (event.causationId === null || earlier.has(event.causationId)) return;
    if (this.hasPosition.get(event.causationId) === undefined) {
      throw new Error(`${event.type}: its cause is no earlier event`);
    }
  }

  private insert(frame: UnitFrame, stream: StreamRef, version: number, unitIndex: number, event: NewEvent): void {
    const place = { schemaVersion: definitionOf(event.type).schemaVersion, stream, version, unitIndex };
    const envelope = envelopeOf(event, { ...frame, ...place, versionSetId: this.versionSetId });
    const actor = canonicalJson(envelope.actor as unknown as JsonObject);
    const evidence = this.evidence(envelope, event.payload, frame.nowMs);
    try {
      this.addEvent.run(...eventValues(envelope, actor, evidence));
    } catch (error) {
      throw conflictOf(error, stream, event);
    }
    this.addPosition.run(this.next, event.eventId);
    this.leaves?.add(this.next, evidence.leaf_hash);
    this.next += 1;
  }

  private evidence(envelope: EventEnvelope, payload: JsonObject, nowMs: number): EvidenceRow {
    const plain = canonicalBytes(payload);
    const salt = this.random.bytes(SALT_BYTES);
    const commitment = payloadCommitment(salt, plain);
    const { dataKeyId, key } = this.dataKeys.of(dataKeyScope(envelope.tenant, envelope.sessionId), nowMs);
    return {
      salt,
      payload_commitment: commitment,
      payload_sealed: seal(key, this.random.bytes(NONCE_BYTES), sealingContext(envelope), plain),
      data_key_id: dataKeyId,
      leaf_hash: leafHash(envelope, commitment),
    };
  }
}

const streamGuard = (stream: StreamRef): string => `stream:${stream.kind}/${stream.id}`;

function definitionOf(type: string): EventDefinition {
  if (!Object.hasOwn(CATALOGUE, type)) throw new Error('an event of an unregistered type');
  return CATALOGUE[type as keyof typeof CATALOGUE];
}

/** Two events with one id are a defect; two with one version of a stream are two writers of whom one was first. */
function conflictOf(error: unknown, stream: StreamRef, event: NewEvent): unknown {
  if (!isUniqueConflict(error)) return error;
  if (sqliteCode(error) === 'SQLITE_CONSTRAINT_PRIMARYKEY') return new Error(`${event.type}: its event id is taken`);
  return new GuardFailed(streamGuard(stream));
}
