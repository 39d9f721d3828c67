import { LIMIT_KEY_PREFIX } from '../../src/policy/core/limits.js';
import { counterKey } from '../../src/policy/core/limits.js';
import type { PolicyDecision, PolicyRequest } from '../../src/policy/core/policy-types.js';
import { ScriptedPolicy, TENANT, type Installation } from './installation.js';

const SCOPE = { counter: 'spend.day', by: ['principal', 'capability'] } as const;

/** A scripted policy whose permit limits `amountMinor` per day, principal and capability, as a real one would. */
export class LimitingPolicy extends ScriptedPolicy {
  max = 1000;
  limits = true;

  override async decide(request: PolicyRequest): Promise<PolicyDecision> {
    const decision = await super.decide(request);
    if (!this.limits || decision.outcome === 'deny') return decision;
    const amount = request.input['amountMinor'];
    const reservations = [{ key: counterKey(SCOPE, request), add: Number(amount), max: this.max }];
    return { ...decision, reservations };
  }
}

/** What the budget of a day holds, by the counters there are. */
export const spent = ({ store }: Installation): readonly number[] =>
  store
    .rows('counters')
    .flatMap((row) => (row.tenant === TENANT && row.counter_key.startsWith(LIMIT_KEY_PREFIX) ? [row.value] : []));
