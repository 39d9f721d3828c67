import { Injectable } from '@nestjs/common';
import type { EventPayload } from '../../domain/events/catalogue.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { CommittedUnit } from '../../storage/feed.js';
import type { Unit } from '../../storage/unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { Logger, errorName } from '../../system/logger.js';
import { after, type Timer } from '../../system/timers.js';
import { canonicalRequest } from '../core/canonical-request.js';
import type { RecordedDecision } from '../core/replay.js';
import type { PolicyEvaluator } from '../engine/policy-evaluator.js';
import { RecordedDecisions, requestOf } from './recorded-decisions.js';
import { ShadowRecord } from './shadow-record.js';
import type { StoredSet } from './stored-sets.js';
import { TrialEngines } from './trial-engines.js';

/** A decision that the shadow is to be asked about; `input` only where the unit of the decision held the proposal too. */
interface Seen {
  readonly tenant: string;
  readonly toolCallId: string;
  readonly policyDecisionId: string;
  readonly decidedAt: string;
  readonly recorded: RecordedDecision;
  readonly input: JsonObject | null;
}

/** What is over is dropped and counted: nobody ever waits for a shadow. */
export const SHADOW_QUEUE_MAX = 1024;
const AT_ONCE = 16;
const FLUSH_MS = 1000;

export interface ShadowState {
  readonly revision: string;
  readonly state: 'starting' | 'asking' | 'refused';
  readonly dropped: number;
  /** Decisions that it could not be asked about: erased, unreadable, or the engine failed. */
  readonly unanswered: number;
}

/**
 * Asks one more set about every decision that has been recorded, after it was answered, on a thread of its own, and keeps
 * what it would have said differently. It follows the feed only while there is a shadow, and only notes and wakes there.
 */
@Injectable()
export class PolicyShadow {
  private engine: PolicyEvaluator | null = null;
  private following: (() => void) | null = null;
  private readonly queue: Seen[] = [];
  private current: { revision: string; state: ShadowState['state']; dropped: number; unanswered: number } | null = null;
  private draining: Promise<void> = Promise.resolve();
  private isDraining = false;
  private timer: Timer | null = null;

  constructor(
    private readonly desk: UnitDesk,
    private readonly trials: TrialEngines,
    private readonly decisions: RecordedDecisions,
    private readonly record: ShadowRecord,
    private readonly logger: Logger,
  ) {}

  /** Null while nothing shadows the set in force. */
  state(): ShadowState | null {
    return this.current === null ? null : { ...this.current };
  }

  /** Asks this set from now on, in the place of any other. Never rejects: a set that fails its check now is `refused`. */
  async follow({ revision, candidate }: StoredSet): Promise<void> {
    await this.stop();
    const current = { revision, state: 'starting' as ShadowState['state'], dropped: 0, unanswered: 0 };
    this.current = current;
    const engine = this.trials.start();
    const report = await engine.load(candidate);
    if (this.current !== current) {
      await engine.stop();
      return;
    }
    if (!report.accepted) {
      current.state = 'refused';
      this.logger.warn('the shadow policy set cannot be asked', { revision, problems: report.problems.length });
      await engine.stop();
      return;
    }
    await this.record.begin(revision);
    this.engine = engine;
    current.state = 'asking';
    this.following = this.desk.feed.subscribe('policy-shadow', (durable) => this.see(durable));
  }

  /** What is waiting is forgotten; what was found is kept. */
  async stop(): Promise<void> {
    const { engine } = this;
    this.current = null;
    this.engine = null;
    this.following?.();
    this.following = null;
    this.queue.length = 0;
    this.timer?.cancel();
    this.timer = null;
    await engine?.stop();
    await this.idle();
    await this.flush();
  }

  /** Everything that was seen so far has been asked. */
  async idle(): Promise<void> {
    await this.draining;
  }

  /** Writes what was found since the last time. */
  async flush(): Promise<void> {
    try {
      await this.record.write();
    } catch (error) {
      this.logger.warn('what the shadow policy set said was not kept', { error: errorName(error) });
    }
  }

  private see({ unit, committed }: CommittedUnit): void {
    for (const seen of seenIn(unit, committed.recordedAt)) {
      if (this.queue.length >= SHADOW_QUEUE_MAX) {
        if (this.current !== null) this.current.dropped += 1;
        this.record.dropped();
      } else this.queue.push(seen);
    }
    if (this.queue.length > 0 && !this.isDraining) {
      this.isDraining = true;
      // In a later turn: whoever committed is answered first.
      this.draining = new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.drain());
    }
  }

  private async drain(): Promise<void> {
    while (this.queue.length > 0) {
      await Promise.all(this.queue.splice(0, AT_ONCE).map((seen) => this.ask(seen)));
    }
    this.isDraining = false;
    if (this.timer === null && this.current !== null) {
      this.timer = after(FLUSH_MS, () => {
        this.timer = null;
        void this.flush();
      }).unref();
    }
  }

  private async ask(seen: Seen): Promise<void> {
    const { engine, current } = this;
    if (engine === null || current === null) return;
    try {
      const input = seen.input ?? (await this.decisions.inputOf(seen.tenant, seen.toolCallId));
      const request = input === null ? null : requestOf(seen.recorded, input);
      const now = request === null ? null : await engine.decide(canonicalRequest(request));
      if (now === null || now.denyCode === 'engine_error') {
        current.unanswered += 1;
        return;
      }
      if (this.current === current) this.record.add({ ...seen, capability: request?.capability ?? '', now });
    } catch {
      current.unanswered += 1;
    }
  }
}

function* seenIn(unit: Unit, decidedAt: string): Generator<Seen> {
  for (const { stream, events } of unit.appends) {
    if (stream.kind !== 'call') continue;
    for (const { type, payload, refs } of events) {
      if (type !== 'policy.decided') continue;
      yield {
        tenant: unit.tenant,
        toolCallId: stream.id,
        policyDecisionId: refs.policyDecisionId ?? '',
        decidedAt,
        recorded: payload as unknown as RecordedDecision,
        input: proposedIn(unit, stream.id),
      };
    }
  }
}

function proposedIn(unit: Unit, toolCallId: string): JsonObject | null {
  for (const { stream, events } of unit.appends) {
    if (stream.kind !== 'call' || stream.id !== toolCallId) continue;
    const proposed = events.find(({ type }) => type === 'tool.call.proposed');
    if (proposed !== undefined) return (proposed.payload as unknown as EventPayload<'tool.call.proposed'>).arguments;
  }
  return null;
}
