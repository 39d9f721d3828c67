import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { leafHash } from '../../../src/ledger/core/leaf.js';
import { envelopeFromRow } from '../../../src/storage/rows/event.row.js';
import type { EventRow } from '../../../src/storage/rows/event.row.js';
import { openReader } from '../../../src/storage/sqlite/sqlite-reader.js';
import { CallScript, TENANT, event, unit } from './unit-builders.js';
import { newWriterHarness } from './writer-harness.js';
import type { WriterHarness } from './writer-harness.js';

const CANARY = 'canary-7f3a-plain-text';

/** RFC 8785 for what these tests record, written apart from the product's own. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`).join(',')}}`;
}

describe('what the database holds of an event', () => {
  let harness: WriterHarness;
  beforeEach(async () => {
    harness = await newWriterHarness();
    const note = { note: CANARY, orderId: `order ${CANARY}` };
    const call = new CallScript('run_1', 'key', note);
    harness.writer().apply([call.proposeAndDispatch(), call.settle()]);
    const refused = event('policy.activation_refused', { problems: [CANARY] }, { synthetic: true });
    harness
      .writer()
      .apply([unit({ appends: [{ stream: { kind: 'policy', id: 'p' }, expectedVersion: 0, events: [refused] }] })]);
  });
  afterEach(() => harness.discard());

  const rows = (): EventRow[] => harness.database.prepare('SELECT * FROM events ORDER BY rowid').all() as EventRow[];

  it('is a leaf: SHA-256 of 0x00 and the canonical envelope with the commitment', () => {
    const stored = rows();
    expect(stored).toHaveLength(8);
    for (const row of stored) {
      const commitment = `sha256:${Buffer.from(row.payload_commitment).toString('hex')}`;
      const leaf = canonical({ ...envelopeFromRow(row), payloadCommitment: commitment });
      const hash = createHash('sha256')
        .update(Buffer.from([0]))
        .update(leaf, 'utf8')
        .digest();
      expect(Buffer.from(row.leaf_hash).equals(hash)).toBe(true);
    }
  });

  it('commits to the payload under its own salt', async () => {
    const { reader, close } = await openReader(harness.path, harness.keyRing);
    const events = await reader.eventsAfter(-1, 100, null);
    const stored = rows();
    for (const [index, row] of stored.entries()) {
      const payload = canonical(events[index]?.payload);
      const commitment = createHash('sha256').update(row.salt).update(payload, 'utf8').digest();
      expect(Buffer.from(row.payload_commitment).equals(commitment)).toBe(true);
    }
    expect(new Set(stored.map(({ salt }) => Buffer.from(salt).toString('hex'))).size).toBe(8);
    await close();
  });

  it('has another leaf as soon as any column of the envelope is another', () => {
    const [row] = rows();
    if (row === undefined) throw new Error('there is an event');
    for (const [column, value] of Object.entries(row)) {
      if (['salt', 'payload_sealed', 'data_key_id', 'leaf_hash'].includes(column)) continue;
      const changed = { ...row, [column]: other(value) } as EventRow;
      const hash = leafHash(envelopeFromRow(changed), changed.payload_commitment);
      expect([column, Buffer.from(hash).equals(Buffer.from(row.leaf_hash))]).toEqual([column, false]);
    }
  });

  it('shows nothing of a payload in the file or its log', () => {
    const bytes = ['', '-wal'].map((suffix) => readFileSync(`${harness.path}${suffix}`).toString('latin1')).join('');
    expect(bytes).toContain('tool.call.proposed');
    expect(bytes).not.toContain(CANARY);
    expect(bytes).not.toContain(Buffer.from(CANARY).toString('base64').slice(0, 20));
    expect(bytes).not.toContain(Buffer.from(CANARY).toString('hex'));
  });

  it('does not unseal when the payloads of two events have changed places', async () => {
    harness.database.exec('DROP TRIGGER events_refuses_update');
    const [first, second] = rows();
    const put = harness.database.prepare(
      'UPDATE events SET payload_sealed = ?, salt = ?, payload_commitment = ? WHERE event_id = ?',
    );
    put.run(second?.payload_sealed, second?.salt, second?.payload_commitment, first?.event_id);
    const { reader, close } = await openReader(harness.path, harness.keyRing);
    await expect(reader.event(TENANT, first?.event_id ?? '')).rejects.toThrow('sealed bytes do not open');
    expect(await reader.event(TENANT, second?.event_id ?? '')).not.toBeNull();
    await close();
  });

  it.each(['payload_sealed', 'salt', 'payload_commitment'])(
    'does not unseal when a bit of %s has flipped',
    async (column) => {
      harness.database.exec('DROP TRIGGER events_refuses_update');
      const [row] = rows();
      const bytes = Buffer.from(row?.[column as 'salt'] ?? []);
      bytes.writeUInt8(bytes.readUInt8(13) ^ 1, 13);
      harness.database.prepare(`UPDATE events SET ${column} = ? WHERE event_id = ?`).run(bytes, row?.event_id);
      const { reader, close } = await openReader(harness.path, harness.keyRing);
      await expect(reader.event(TENANT, row?.event_id ?? '')).rejects.toThrow(
        /sealed bytes do not open|does not match its commitment/,
      );
      await close();
    },
  );

  it('says so when the key of a payload is gone', async () => {
    harness.database.exec('DELETE FROM data_keys');
    const { reader, close } = await openReader(harness.path, harness.keyRing);
    await expect(reader.eventsAfter(-1, 1, null)).rejects.toThrow('the key of a payload is gone');
    await close();
  });
});

function other(value: unknown): unknown {
  if (typeof value === 'number') return value === 1 ? 0 : value + 1;
  if (value instanceof Uint8Array) return value.map((byte) => byte ^ 1);
  if (value === null) return 'x';
  return String(value).startsWith('{') ? '{"sub":"mallory"}' : `${String(value)}x`;
}
