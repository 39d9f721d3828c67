import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { domainEventOf } from '../../domain/events/domain-event.js';
import { canonicalJson } from '../../domain/json/canonical-json.js';
import { valueAt } from '../../domain/json/json-pointer.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { Principal } from '../../domain/principal.js';
import { foldStanding } from '../../domain/standing/standing.evolve.js';
import { grantState } from '../../storage/rows/standing.row.js';
import type { TableRow } from '../../storage/rows/tables.js';
import { Store } from '../../storage/store.js';
import type { Guard } from '../../storage/unit.js';
import type { LoadedCall } from '../../storage/units/load.js';
import type { Papers } from '../case-file.js';
import type { GroupFacts } from '../core/policy-types.js';
import { GrantBoard } from './grant-board.js';

/** A call as a grant looks at it. */
export interface CoveredCall {
  readonly tenant: string;
  readonly capability: string;
  readonly principal: Principal;
  readonly requesterSubjects: readonly string[];
  readonly args: JsonObject;
  readonly intentDigest: string;
  /** ISO 8601. */
  readonly now: string;
}

type Facts = Readonly<Record<string, GroupFacts>>;

/** What standing grants say about a call, and what a unit that rests on it must hold. */
export interface StandingConsent {
  readonly facts: Facts;
  readonly guards: readonly Guard[];
}

/**
 * The standing allows of people. Each counts as its owner's allow in its group, distinct people once, never a requester's
 * own, never for an intent that somebody has refused. Facts alone: the policy decides what they are worth.
 */
@Injectable()
export class GrantBook {
  constructor(
    private readonly store: Store,
    private readonly board: GrantBoard,
  ) {}

  /** Null where nobody has given anything, which costs no read. */
  get isEmpty(): boolean {
    return this.board.isEmpty;
  }

  /** What standing grants say now of a call that is on record. */
  consentForRecorded({ row, state }: LoadedCall, papers: Papers, now: string): Promise<StandingConsent | null> {
    return this.consentFor({
      tenant: row.tenant,
      capability: state.capability,
      principal: state.principal,
      requesterSubjects: papers.requesterSubjects,
      args: papers.args,
      intentDigest: row.intent_digest,
      now,
    });
  }

  async consentFor(call: CoveredCall): Promise<StandingConsent | null> {
    if (this.board.isEmpty) return null;
    const grants = (await this.store.read.activeGrants(call.tenant, call.capability)).filter((row) => isFor(row, call));
    const meant: TableRow<'grants'>[] = [];
    for (const row of grants) if (await this.meansThese(row, call.args)) meant.push(row);
    if (meant.length === 0) return null;
    if ((await this.store.read.refusedIntent(call.tenant, call.intentDigest)) !== null) return null;
    return { facts: factsOf(meant), guards: [...meant.map(stillStands), notRefused(call)] };
  }

  /**
   * Which arguments it is for is in the sealed event alone; and a row that says anything else than the events do, of the person,
   * the scope, the time or the end, allows nothing.
   */
  private async meansThese(row: TableRow<'grants'>, args: JsonObject): Promise<boolean> {
    const events = await this.store.read.streamEvents(row.tenant, { kind: 'grant', id: row.grant_id });
    const told = events.map(({ envelope, payload }) => domainEventOf(envelope.eventType, payload));
    if (!isDeepStrictEqual(foldStanding(told), grantState(row))) return false;
    const equal = (events[0]?.payload['argumentsEqual'] ?? {}) as JsonObject;
    return Object.entries(equal).every(([pointer, wanted]) => {
      const actual = valueAt(args, pointer);
      return actual !== undefined && wanted !== undefined && canonicalJson(actual) === canonicalJson(wanted);
    });
  }
}

/**
 * What the policy is told where people were asked and others allow standing: of each group the more, since the same person may
 * have done both.
 */
export function besides(voted: Facts, standing: Facts): Facts {
  const merged: Record<string, GroupFacts> = { ...voted };
  for (const [group, { count, includesRequester }] of Object.entries(standing)) {
    const vote = voted[group];
    merged[group] = {
      count: Math.max(count, vote?.count ?? 0),
      includesRequester: includesRequester || vote?.includesRequester === true,
    };
  }
  return merged;
}

function isFor(row: TableRow<'grants'>, call: CoveredCall): boolean {
  return (
    row.until > call.now &&
    (row.principal_sub === null || row.principal_sub === call.principal.sub) &&
    (row.principal_act === null || row.principal_act === call.principal.act) &&
    !call.requesterSubjects.includes(row.granted_by)
  );
}

function factsOf(rows: readonly TableRow<'grants'>[]): Readonly<Record<string, GroupFacts>> {
  const people = new Map<string, Set<string>>();
  for (const { approver_group: group, granted_by: by } of rows) {
    people.set(group, (people.get(group) ?? new Set()).add(by));
  }
  return Object.fromEntries([...people].map(([group, { size }]) => [group, { count: size, includesRequester: false }]));
}

/** Not revoked, not over by the clock of the one who writes. */
function stillStands({ grant_id, version }: TableRow<'grants'>): Guard {
  const where = { grant_id, version, status: 'active', until: { clock: 'after_now' } } as const;
  return { name: 'grant', table: 'grants', where, expect: 'present' };
}

function notRefused({ tenant, intentDigest }: CoveredCall): Guard {
  const where = { tenant, intent_digest: intentDigest };
  return { name: 'refused_intent', table: 'refused_intents', where, expect: 'absent' };
}
