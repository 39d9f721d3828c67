import { CountersignError } from '../../domain/errors/countersign-error.js';
import type { DomainEvent, EventPayload } from '../../domain/events/catalogue.js';
import type { EventRefs } from '../../domain/events/envelope.js';
import type { LeaseCommand } from '../../domain/lease/lease.commands.js';
import { decideLease } from '../../domain/lease/lease.decide.js';
import { evolveLease } from '../../domain/lease/lease.evolve.js';
import { isLiveLease, LIVE_LEASE_STATUSES, type LeaseState } from '../../domain/lease/lease.state.js';
import { leaseFacts, leaseRow, leaseState, type LeaseFacts } from '../rows/lease.row.js';
import type { TableRow } from '../rows/tables.js';
import type { StoreReader } from '../readers/store-reader.js';
import type { Expectation, Write } from '../unit.js';
import type { UnitDraft } from './unit-draft.js';

export interface LeaseBefore {
  readonly state: LeaseState | null;
  readonly facts: LeaseFacts;
}

export interface LoadedLease extends LeaseBefore {
  readonly state: LeaseState;
}

/** How many leases for acts may be live at once; null: as many as there are. */
export interface LeaseLimits {
  readonly activePerAgentMax: number | null;
  readonly activePerCapabilityMax: number | null;
  readonly activePerTenantMax: number | null;
}

const UNLIMITED: LeaseLimits = { activePerAgentMax: null, activePerCapabilityMax: null, activePerTenantMax: null };

/** Names of the counters, and so of the guards that fail when a limit is reached, begin with this. */
const LEASE_COUNTER = 'lease/';

/** The guard that failed says that as many leases are live as may be. */
export const isLeaseLimit = (guard: string): boolean => guard.startsWith(`counter:${LEASE_COUNTER}`);

export function loadedLease(row: TableRow<'leases'>): LoadedLease {
  return { state: leaseState(row), facts: leaseFacts(row) };
}

/** One primary-key read. */
export async function loadLease(read: StoreReader, tenant: string, leaseId: string): Promise<LoadedLease | null> {
  const row = await read.lease(tenant, leaseId);
  return row === null ? null : loadedLease(row);
}

/** One lease inside a unit in the making: decides, appends, writes its row, and counts it while it is live. */
export class LeaseInUnit {
  private current: LeaseState | null;
  private facts: LeaseFacts;
  private used = false;

  constructor(
    private readonly draft: UnitDraft,
    private readonly before: LeaseBefore,
    /** What events about the call of the lease refer to. */
    private readonly callRefs: EventRefs = {},
  ) {
    this.current = before.state;
    this.facts = before.facts;
    draft.rowsFrom({ rows: () => this.rows() });
  }

  /** @throws Error before the lease was issued or refused. */
  get state(): LeaseState {
    if (this.current === null) throw new Error('the lease has not been issued');
    return this.current;
  }

  get after(): LoadedLease {
    return { state: this.state, facts: this.facts };
  }

  /** @throws CountersignError with the code of the transition table when the machine refuses. */
  do(command: LeaseCommand, limits: LeaseLimits = UNLIMITED): this {
    const decided = decideLease(this.current, command);
    const { lease_id: leaseId } = this.facts;
    if (!decided.ok) throw new CountersignError(decided.code, decided.message, { leaseId });
    if (decided.events.length === 0) return this;
    const wasLive = this.isLive;
    const stream = { kind: 'lease', id: leaseId } as const;
    const ids = this.draft.append(stream, this.facts.version, decided.events, { ...this.refs, ...this.callRefs });
    decided.events.forEach((event, index) => this.remember(event, ids[index] as string));
    this.used ||= command.kind === 'use';
    if (wasLive !== this.isLive) this.count(this.isLive ? 1 : -1, limits);
    return this;
  }

  private get isLive(): boolean {
    return this.current !== null && isLiveLease(this.current);
  }

  private get refs(): EventRefs {
    const { lease_id, tool_call_id, run_id, session_id, approval_id, policy_decision_id } = this.facts;
    return {
      credentialLeaseId: lease_id,
      toolCallId: tool_call_id,
      runId: run_id,
      sessionId: session_id,
      ...(approval_id === null ? {} : { approvalId: approval_id }),
      ...(policy_decision_id === null ? {} : { policyDecisionId: policy_decision_id }),
      ...(this.current === null
        ? {}
        : { capabilityId: `${this.current.capability}@${this.current.capabilityVersion}` }),
    };
  }

  private remember(event: DomainEvent, eventId: string): void {
    this.current = evolveLease(this.current, event);
    this.facts = {
      ...this.facts,
      version: this.facts.version + 1,
      last_event_id: eventId,
      updated_at: this.draft.context.occurredAt,
    };
  }

  /** A look-up is never held up by a limit: without it nobody finds out what became of an effect. */
  private count(add: 1 | -1, limits: LeaseLimits): void {
    const { kind, principal, capability } = this.state;
    if (kind !== 'act') return;
    const { tenant } = this.facts;
    for (const [name, max] of [
      [`agent/${principal.act ?? principal.sub}`, limits.activePerAgentMax],
      [`capability/${capability}`, limits.activePerCapabilityMax],
      ['tenant', limits.activePerTenantMax],
    ] as const) {
      this.draft.count({ tenant, key: `${LEASE_COUNTER}${name}`, add, max: add === 1 ? max : null });
    }
  }

  private rows(): readonly Write[] {
    if (this.current === null || this.facts.version === this.before.facts.version) return [];
    const row = leaseRow(this.facts, this.current);
    if (this.before.state === null) return [{ op: 'insert', table: 'leases', row, takenGuard: 'lease' }];
    const where = { lease_id: row.lease_id, version: this.before.facts.version, ...this.burn() };
    return [{ op: 'set', table: 'leases', where, set: row, guard: 'lease' }];
  }

  /** A use is burnt by this one comparison: live, in time by the clock of the one who writes, and not used meanwhile. */
  private burn(): Readonly<Record<string, Expectation>> {
    const { state } = this.before;
    if (!this.used || state === null) return {};
    return {
      status: { oneOf: LIVE_LEASE_STATUSES },
      uses: state.uses,
      attempt: state.attempt,
      tool_call_id: this.facts.tool_call_id,
      expires_at: { clock: 'after_now' },
    };
  }
}

/** Revokes what can still be used of a run, in the unit that ends or stops it. `spared` are left as they are. */
export async function revokeRunLeases(
  read: StoreReader,
  draft: UnitDraft,
  run: { readonly tenant: string; readonly run_id: string },
  reason: EventPayload<'lease.revoked'>['reason'],
  spared: (lease: TableRow<'leases'>) => boolean = () => false,
): Promise<void> {
  const at = draft.context.occurredAt;
  for (const row of await read.liveLeasesOfRun(run.tenant, run.run_id)) {
    if (spared(row)) continue;
    new LeaseInUnit(draft, loadedLease(row)).do({ kind: 'revoke', revocation: { reason, at } });
  }
}
