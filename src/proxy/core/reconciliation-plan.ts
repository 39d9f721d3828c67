import type { ReconciliationStrategy } from '../../domain/events/catalogue.js';

/** What a manifest offers for finding out, in milliseconds where it is about time. */
export interface Means {
  readonly onAmbiguous: 'reconcile' | 'handoff';
  readonly quiesceMs: number;
  readonly probe: {
    readonly strategy: 'query_by_idempotency_key' | 'query_by_external_id';
    readonly attemptsMax: number;
    readonly budgetMs: number;
  } | null;
  readonly replayAsProbe: boolean;
  readonly callbackBudgetMs: number | null;
  readonly statementBudgetMs: number | null;
}

/** What is known when the plan is made. */
export interface Situation {
  readonly externalRequestId: string | null;
  /** ISO 8601: nothing of the attempt is on the wire at or after it. */
  readonly deadline: string;
  readonly nowMs: number;
}

export interface Plan {
  readonly strategy: ReconciliationStrategy;
  /** `probe`, `replay`: asked until an answer proves something. `none`: evidence comes by itself or not at all. */
  readonly asks: 'probe' | 'replay' | 'none';
  readonly attemptsMax: number;
  /** True when evidence may come by itself: the call waits for it until the deadline, also when asking is over. */
  readonly waits: boolean;
  /** Milliseconds since 1970: people are asked at this time at the latest. */
  readonly deadlineMs: number;
}

/** A request that is sent again to ask is answered at once or not at all. */
const REPLAYS_MAX = 4;
const REPLAY_BUDGET_MS = 600_000;

/**
 * How a call of unknown result is to be settled, or null when there is no way but to ask people. What can be asked is
 * asked; what tells by itself is waited for as long as the manifest says, counted from when the attempt was over.
 */
export function planFor(means: Means, { externalRequestId, deadline, nowMs }: Situation): Plan | null {
  if (means.onAmbiguous === 'handoff') return null;
  const { probe, callbackBudgetMs, statementBudgetMs } = means;
  const overMs = Date.parse(deadline) + means.quiesceMs;
  const untilMs = [callbackBudgetMs, statementBudgetMs].flatMap((ms) => (ms === null ? [] : [overMs + ms]));
  const waits = untilMs.length > 0;
  const canAsk = probe !== null && (probe.strategy === 'query_by_idempotency_key' || externalRequestId !== null);
  if (canAsk) {
    const { strategy, attemptsMax, budgetMs } = probe;
    return { strategy, asks: 'probe', attemptsMax, waits, deadlineMs: Math.max(nowMs + budgetMs, ...untilMs) };
  }
  if (means.replayAsProbe) {
    const deadlineMs = Math.max(nowMs + REPLAY_BUDGET_MS, ...untilMs);
    return { strategy: 'query_by_idempotency_key', asks: 'replay', attemptsMax: REPLAYS_MAX, waits, deadlineMs };
  }
  if (!waits) return null;
  const strategy = callbackBudgetMs === null ? 'statement_match' : 'await_callback';
  return { strategy, asks: 'none', attemptsMax: 0, waits, deadlineMs: Math.max(...untilMs) };
}

/** When the next look-up is made, all in milliseconds since 1970. */
export interface Pace {
  readonly nowMs: number;
  readonly backoffMs: number;
  /** Look-ups made so far, this one included. */
  readonly made: number;
  readonly attemptsMax: number;
  readonly deadlineMs: number;
  /** From this time on not finding the effect proves something; null when it never does. */
  readonly quietAtMs: number | null;
  readonly waits: boolean;
}

/**
 * Backs off, but never beyond the deadline, and keeps the last look-up for the time at which absence is proof: a budget
 * that is used up before anything could be proven would be wasted. When none is left, the call waits for the deadline if
 * evidence may still come by itself, and goes to people at once if not.
 */
export function nextAtMs(pace: Pace): number {
  const { nowMs, made, attemptsMax, deadlineMs, quietAtMs } = pace;
  if (made >= attemptsMax) return pace.waits ? deadlineMs : nowMs;
  const next = nowMs + pace.backoffMs;
  const isLast = made === attemptsMax - 1;
  return Math.min(isLast && quietAtMs !== null ? Math.max(next, quietAtMs) : next, deadlineMs);
}

/** Of a provider's key retention only so much is relied on. */
const RETENTION_SHARE = 0.8;

/**
 * Whether the identical request may be sent again to ask: the provider must still know the key, and it must still be a
 * time at which the call could have been sent at all, for the question may turn out to be the first to arrive.
 */
export function mayReplay(facts: {
  readonly nowMs: number;
  /** ISO 8601: when the key was first used. */
  readonly firstUsedAt: string;
  readonly keyRetentionMs: number | null;
  /** ISO 8601 times at or after which nothing may be sent. */
  readonly sendBefore: readonly (string | null)[];
}): boolean {
  const { nowMs, keyRetentionMs } = facts;
  if (keyRetentionMs === null) return false;
  if (nowMs >= Date.parse(facts.firstUsedAt) + keyRetentionMs * RETENTION_SHARE) return false;
  return facts.sendBefore.every((limit) => limit === null || nowMs < Date.parse(limit));
}
