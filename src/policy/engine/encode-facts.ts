import type { FactName, FactNeeds } from '../core/facts.js';
import { DEFAULT_ENVIRONMENT } from '../core/facts.js';
import { localTime } from '../core/local-time.js';
import type { PolicyRequest } from '../core/policy-types.js';
import { integer, text, truth, type EncodedValue } from './encode-values.js';

/**
 * The facts that the policies about the action read, and no others. A request that was recorded when nothing read a fact does not
 * have it; for a policy that is only tried out on it, a neutral value stands in: nothing counted, nothing denied, production, UTC.
 *
 * @throws RequestUnreadable
 */
export function encodeFacts(request: PolicyRequest, needs: FactNeeds): Record<string, EncodedValue> {
  const encoded: Record<string, EncodedValue> = {};
  for (const name of needs.facts) encoded[name] = encodeFact(name, request, needs);
  return encoded;
}

function encodeFact(name: FactName, request: PolicyRequest, needs: FactNeeds): EncodedValue {
  switch (name) {
    case 'counters':
      return Object.fromEntries(
        needs.counters.map(({ counter }) => [counter, integer(request.counters?.[counter] ?? 0)] as const),
      );
    case 'environment':
      return text(request.environment ?? DEFAULT_ENVIRONMENT);
    case 'time': {
      const { hour, minute, weekday, dayOfMonth, month } = request.time ?? localTime('UTC', integer(request.nowMs));
      return {
        hour: integer(hour),
        minute: integer(minute),
        weekday: integer(weekday),
        dayOfMonth: integer(dayOfMonth),
        month: integer(month),
      };
    }
    case 'riskScore':
      return integer(request.riskScore ?? 0);
    case 'previousDenials': {
      const { byPeople, byPolicy } = request.previousDenials ?? { byPeople: 0, byPolicy: 0 };
      return { byPeople: integer(byPeople), byPolicy: integer(byPolicy) };
    }
    case 'agentSuspended':
      return truth(request.agentSuspended ?? false);
    case 'compensation':
      return truth(request.compensation ?? false);
  }
}
