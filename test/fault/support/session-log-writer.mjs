// Appends to the session logs of a directory until it is killed, and prints the last number that is durable.
// Parameters: where the built product is, jsonl or database, the directory, the codec, the epoch, the seed.
import { join } from 'node:path';

const [, , dist = '', kind = '', directory = '', codec = 'none', epoch = '1'] = process.argv;
const load = (/** @type {string} */ path) => import(new URL(path, dist).href);

const backend = await opened();
const keys = ['s-1', 's-2'].map((sessionId) => ({ tenant: 'acme', sessionId }));
await Promise.all(keys.map((key) => write(key)));

async function opened() {
  const instanceEpoch = Number(epoch);
  if (kind === 'jsonl') {
    const { JsonlBackend } = await load('sessions/backends/jsonl/jsonl-backend.js');
    return JsonlBackend.open({ root: join(directory, 'sessions'), codec, instanceEpoch, tookOver: false });
  }
  const { openSessionDatabase } = await load('storage/session-log/open-session-database.js');
  const { DatabaseBackend } = await load('sessions/backends/database/database-backend.js');
  return new DatabaseBackend(await openSessionDatabase({ dataDir: directory, instanceEpoch }));
}

/** @param {{ tenant: string, sessionId: string }} key */
async function write(key) {
  const found = await backend.loadStored(key);
  const header = { formatVersion: 1, ...key, createdAt: '2026-01-02T03:04:05.000Z' };
  if (found?.torn !== undefined) await backend.commitRepair(key, found.torn, []);
  let seq = found?.rows.length ?? 0;
  let materialized = found !== null;
  for (let batch = 0; ; batch += 1) {
    const rows = batch % 3 === 1 ? groupAt(seq) : Array.from({ length: 1 + (seq % 40) }, (_, n) => rowAt(seq + n));
    const barrier = batch % 4 === 0;
    await backend.appendBatch(key, header, rows, { materialized, barrier });
    materialized = true;
    seq += rows.length;
    process.stdout.write(`${JSON.stringify({ sessionId: key.sessionId, durable: seq - 1 })}\n`);
  }
}

/** @param {number} seq */
function rowAt(seq) {
  const at = '2026-01-02T03:04:05.000Z';
  const eventId = `0190a1b2-c3d4-7000-8000-${String(seq).padStart(12, '0')}`;
  const payload = { messageId: 'm-1', index: seq, text: `word ${seq} `.repeat(1 + (seq % 20)) };
  return {
    kind: 'event',
    seq,
    eventId,
    eventType: seq % 5 === 0 ? 'notice.message' : 'assistant.delta',
    schemaVersion: 1,
    producer: 'harness',
    correlationId: 'run-1',
    causationId: null,
    causeKind: 'external',
    occurredAt: at,
    recordedAt: at,
    payload,
  };
}

/** @param {number} seq */
function groupAt(seq) {
  const groupSize = 5;
  return Array.from({ length: groupSize }, (_, groupIndex) => {
    return { ...rowAt(seq + groupIndex), groupId: `group-${seq}`, groupIndex, groupSize };
  });
}
