import type { StoreReader } from '../storage/readers/store-reader.js';
import type { TableRow } from '../storage/rows/tables.js';
import type { Clock } from '../system/clock.js';

/** What a revocation is held against. */
export interface TokenFacts {
  readonly jti: string | null;
  readonly tenant: string;
  /** On whose behalf, and every agent that acts. */
  readonly subjects: readonly string[];
  /** Seconds since 1970. */
  readonly issuedAt: number;
}

/** Tokens that count no more, in memory: read at the start and after each revocation. Verifying a token reads nothing. */
export class Revocations {
  private ids: ReadonlySet<string> = new Set();
  private subjects: ReadonlyMap<string, number> = new Map();
  private readonly listeners: (() => void)[] = [];

  constructor(
    private readonly read: Pick<StoreReader, 'revokedTokens'>,
    private readonly clock: Clock,
  ) {}

  async reload(): Promise<void> {
    const rows = await this.read.revokedTokens(new Date(this.clock.now()).toISOString());
    this.ids = new Set(rows.flatMap(({ jti }) => (jti === null ? [] : [jti])));
    this.subjects = latestBySubject(rows);
    for (const tell of this.listeners) tell();
  }

  /** Called after each change, when `covers` already answers by it. */
  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  covers({ jti, tenant, subjects, issuedAt }: TokenFacts): boolean {
    if (jti !== null && this.ids.has(jti)) return true;
    if (this.subjects.size === 0) return false;
    return subjects.some((sub) => issuedAt * 1000 < (this.subjects.get(subjectKey(tenant, sub)) ?? 0));
  }

  list(): Promise<readonly TableRow<'revoked_tokens'>[]> {
    return this.read.revokedTokens(new Date(this.clock.now()).toISOString());
  }
}

function latestBySubject(rows: readonly TableRow<'revoked_tokens'>[]): ReadonlyMap<string, number> {
  const latest = new Map<string, number>();
  for (const { tenant, sub, issued_before } of rows) {
    if (tenant === null || sub === null || issued_before === null) continue;
    const key = subjectKey(tenant, sub);
    latest.set(key, Math.max(latest.get(key) ?? 0, Date.parse(issued_before)));
  }
  return latest;
}

const subjectKey = (tenant: string, sub: string): string => JSON.stringify([tenant, sub]);
