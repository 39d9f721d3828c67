import { describe, expect, it } from '@jest/globals';
import { ManualClock } from '../../test/builders/manual-clock.js';
import type { TableRow } from '../storage/rows/tables.js';
import { Revocations } from './revocations.js';

type Row = TableRow<'revoked_tokens'>;
const AT = '2031-01-01T00:00:00.000Z';
const clock = new ManualClock(AT);
const SECONDS = clock.now() / 1000;
const row = (more: Partial<Row>): Row => ({
  revocation_id: 'rvk_1',
  jti: null,
  tenant: null,
  sub: null,
  issued_before: null,
  until: '2031-01-02T00:00:00.000Z',
  reason: null,
  revoked_at: AT,
  ...more,
});
const token = { jti: 'a', tenant: 'acme', subjects: ['sam', 'agent'], issuedAt: SECONDS - 1 };

async function of(...rows: Row[]): Promise<Revocations> {
  const revocations = new Revocations({ revokedTokens: async () => rows }, clock);
  await revocations.reload();
  return revocations;
}

describe('revocations', () => {
  it('cover the one token they name', async () => {
    const revocations = await of(row({ jti: 'a' }));
    expect(revocations.covers(token)).toBe(true);
    expect(revocations.covers({ ...token, jti: 'b' })).toBe(false);
    expect(revocations.covers({ ...token, jti: null })).toBe(false);
  });

  it('cover what was issued to a subject before a time, and nothing issued from then on', async () => {
    const revocations = await of(row({ tenant: 'acme', sub: 'sam', issued_before: AT }));
    expect(revocations.covers(token)).toBe(true);
    expect(revocations.covers({ ...token, issuedAt: SECONDS })).toBe(false);
  });

  it('cover an agent wherever it acts', async () => {
    const revocations = await of(row({ tenant: 'acme', sub: 'agent', issued_before: AT }));
    expect(revocations.covers(token)).toBe(true);
    expect(revocations.covers({ ...token, subjects: ['sam'] })).toBe(false);
  });

  it('cover no namesake in another tenant [X26]', async () => {
    const revocations = await of(row({ tenant: 'acme', sub: 'sam', issued_before: AT }));
    expect(revocations.covers({ ...token, tenant: 'umbrella' })).toBe(false);
  });

  it('of one subject count with the latest time', async () => {
    const [early, late] = ['2030-01-01T00:00:00.000Z', AT].map((issued_before) =>
      row({ tenant: 'acme', sub: 'sam', issued_before }),
    );
    expect((await of(late as Row, early as Row)).covers(token)).toBe(true);
  });

  it('tell whoever keeps verified tokens, after they count', async () => {
    const rows: Row[] = [];
    const revocations = new Revocations({ revokedTokens: async () => rows }, clock);
    const seen: boolean[] = [];
    revocations.onChange(() => seen.push(revocations.covers(token)));
    await revocations.reload();
    rows.push(row({ jti: 'a' }));
    await revocations.reload();
    expect(seen).toEqual([false, true]);
  });
});
