import Database from 'better-sqlite3';
import { DataSource } from 'typeorm';
import type { KeyRing } from '../key-ring.js';
import { approvalReader } from '../readers/approval.reader.js';
import { censusReader } from '../readers/census.reader.js';
import { factsReader } from '../readers/fact.reader.js';
import { eventReader } from '../readers/event.reader.js';
import { installationReader } from '../readers/installation.reader.js';
import { lateResultReader } from '../readers/late-result.reader.js';
import { leaseReader } from '../readers/lease.reader.js';
import { outcomeReader } from '../readers/outcome.reader.js';
import { policyReader } from '../readers/policy.reader.js';
import { OpenedKeys } from '../readers/opened-keys.js';
import { proposalReader } from '../readers/proposal.reader.js';
import { runChainReader } from '../readers/run-chain.reader.js';
import { runReader } from '../readers/run.reader.js';
import { secretReader } from '../readers/secret.reader.js';
import { sessionReader } from '../readers/session.reader.js';
import type { StoreReader } from '../readers/store-reader.js';
import { planReviewReader } from '../readers/plan-review.reader.js';
import { standingReader } from '../readers/standing.reader.js';
import { sinkReader } from '../readers/sink.reader.js';
import { toolCallReader } from '../readers/tool-call.reader.js';
import { workReader } from '../readers/work.reader.js';
import { LIST_ENTITIES, TypeOrmLists } from '../typeorm-lists.js';
import { settleReader } from './connection.js';
import { SqliteReadConnection } from './sqlite-read-connection.js';

export interface OpenReader {
  readonly reader: StoreReader;
  close(): Promise<void>;
}

/**
 * The one read-only connection of a SQLite store: TypeORM's data source opened it and makes the lists on it, the hot path has its own
 * prepared statements on the same handle.
 */
export async function openReader(path: string, keyRing: KeyRing): Promise<OpenReader> {
  let handle: Database.Database | null = null;
  const source = new DataSource({
    type: 'better-sqlite3',
    driver: Database,
    database: path,
    readonly: true,
    fileMustExist: true,
    prepareDatabase: (database: Database.Database) => {
      handle = database;
    },
    entities: [...LIST_ENTITIES],
    synchronize: false,
    logging: false,
  });
  await source.initialize();
  try {
    const database = opened(handle);
    settleReader(database);
    return { reader: readerOn(database, source, keyRing), close: () => source.destroy() };
  } catch (error) {
    await source.destroy();
    throw error;
  }
}

function opened(handle: Database.Database | null): Database.Database {
  if (handle === null) throw new Error('the data source did not open its database');
  return handle;
}

function readerOn(database: Database.Database, source: DataSource, keyRing: KeyRing): StoreReader {
  const connection = new SqliteReadConnection(database);
  const lists = new TypeOrmLists(source);
  const keys = new OpenedKeys(connection, keyRing);
  return {
    ...toolCallReader(connection, lists),
    ...approvalReader(connection, lists),
    ...runReader(connection),
    ...proposalReader(connection),
    ...workReader(connection),
    ...censusReader(connection),
    ...installationReader(connection),
    ...factsReader(connection),
    ...sinkReader(connection),
    ...lateResultReader(connection),
    ...eventReader(connection, keys),
    ...runChainReader(connection, keys),
    ...outcomeReader(connection),
    ...leaseReader(connection, lists),
    ...secretReader(connection),
    ...sessionReader(connection, keys),
    ...standingReader(connection),
    ...planReviewReader(connection),
    ...policyReader(connection, keys),
  };
}
