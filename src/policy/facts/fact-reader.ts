import { Injectable } from '@nestjs/common';
import { PauseBoard } from '../../capabilities/pause-board.js';
import { Settings } from '../../config/settings.js';
import { heldReservations } from '../../domain/tool-call/reservation.js';
import type { Reservation } from '../../domain/tool-call/tool-call.state.js';
import { principalKey, type Principal } from '../../domain/principal.js';
import type { LoadedCall } from '../../storage/units/load.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import type { FactName, FactNeeds, PreviousDenials, ServerFacts } from '../core/facts.js';
import { counterKey } from '../core/limits.js';
import { localTime } from '../core/local-time.js';
import type { PolicyRequest } from '../core/policy-types.js';
import { riskScore } from '../core/risk-score.js';
import { PolicyService } from '../policy.service.js';

/** What is known of a call besides the request about it. */
export interface Circumstances {
  readonly runId: string;
  readonly intentDigest: string;
  /** Empty before the call has an id. */
  readonly toolCallId: string;
  readonly compensates: boolean;
  /** What the call counts for already: no fact counts it, and no budget takes it twice. */
  readonly held: readonly Reservation[];
}

export function circumstancesOf({ row, state }: LoadedCall): Circumstances {
  return {
    runId: row.run_id,
    intentDigest: state.intentDigest,
    toolCallId: row.tool_call_id,
    compensates: state.compensates !== null,
    held: heldReservations(state),
  };
}

/** Gathers the facts that the policies about an action read, as they are at this moment. */
@Injectable()
export class FactReader {
  constructor(
    private readonly policy: PolicyService,
    private readonly pauses: PauseBoard,
    private readonly desk: UnitDesk,
    private readonly settings: Settings,
  ) {
    // An agent that is suspended is paused, except where a policy has its own word about suspended agents.
    pauses.leaveSuspensions((capability) => this.needs(capability).facts.includes('agentSuspended'));
  }

  needs(capability: string): FactNeeds {
    return this.policy.needs(capability);
  }

  /** The request with every fact that is needed, and no other. */
  async complete(request: PolicyRequest, needs: FactNeeds, about: Circumstances): Promise<PolicyRequest> {
    let complete: PolicyRequest = needs.run ? { ...request, runId: about.runId } : request;
    const denials = this.denials(request, needs, about);
    for (const name of needs.facts) {
      complete = { ...complete, ...(await this.fact(name, complete, { needs, about, denials: await denials })) };
    }
    return complete;
  }

  /** True while an operator has suspended the agent, or whoever acts for itself. */
  isSuspended(tenant: string, principal: Principal): boolean {
    return this.pauses.isSuspended(tenant, principal);
  }

  /** The first counter that has no room for what is wanted; null when all have. Only the unit's own counter is sure. */
  async firstFull(
    tenant: string,
    wanted: readonly Reservation[],
    held: readonly Reservation[],
  ): Promise<string | null> {
    for (const { key, add, max } of wanted) {
      if ((await this.othersIn(tenant, key, held)) + add > max) return key;
    }
    return null;
  }

  private async fact(
    name: FactName,
    request: PolicyRequest,
    { needs, about, denials }: Gathering,
  ): Promise<ServerFacts> {
    switch (name) {
      case 'counters':
        return { counters: await this.counters(request, needs, about) };
      case 'environment':
        return { environment: this.settings.installation.environment };
      case 'time':
        return { time: localTime(this.settings.policy.timeZone, request.nowMs) };
      case 'riskScore': {
        const { tenant, capability } = request;
        const used = await this.desk.read.usedBefore(tenant, principalKey(request), capability, about.toolCallId);
        const riskInputs = { denials, firstUse: !used };
        return { riskScore: riskScore(request, riskInputs), riskInputs };
      }
      case 'previousDenials':
        return { previousDenials: denials };
      case 'agentSuspended':
        return { agentSuspended: this.isSuspended(request.tenant, request) };
      case 'compensation':
        return { compensation: about.compensates };
    }
  }

  private async counters(
    request: PolicyRequest,
    needs: FactNeeds,
    { held }: Circumstances,
  ): Promise<Readonly<Record<string, number>>> {
    const values: [string, number][] = [];
    for (const scope of needs.counters) {
      values.push([scope.counter, await this.othersIn(request.tenant, counterKey(scope, request), held)]);
    }
    return Object.fromEntries(values);
  }

  /** A counter without what the call itself holds of it. */
  private async othersIn(tenant: string, key: string, held: readonly Reservation[]): Promise<number> {
    const own = held.find((reservation) => reservation.key === key)?.add ?? 0;
    return Math.max(0, (await this.desk.read.counter(tenant, key)) - own);
  }

  private async denials(
    { tenant, nowMs }: PolicyRequest,
    { facts }: FactNeeds,
    { intentDigest }: Circumstances,
  ): Promise<PreviousDenials> {
    if (!facts.includes('previousDenials') && !facts.includes('riskScore')) return NONE_DENIED;
    const since = new Date(nowMs - this.settings.policy.denialMemoryMs).toISOString();
    return this.desk.read.denialsSince(tenant, intentDigest, since);
  }
}

const NONE_DENIED: PreviousDenials = { byPeople: 0, byPolicy: 0 };

interface Gathering {
  readonly needs: FactNeeds;
  readonly about: Circumstances;
  readonly denials: PreviousDenials;
}
