import type { EventType } from '../../src/domain/events/catalogue.js';
import type { Producer } from '../../src/domain/events/event-definition.js';
import type { JsonObject } from '../../src/domain/json/json-value.js';
import { appendToCore, type AppendContext, type NewSessionEvent } from '../../src/domain/session/session.append.js';
import { emptyCore, type SessionCore } from '../../src/domain/session/session-core.js';
import { evolveCore } from '../../src/domain/session/session-core.evolve.js';
import type { SessionKey } from '../../src/domain/session/session-key.js';
import type { MirroredEvent, SessionFact, SessionHeader } from '../../src/domain/session/session-row.js';
import type { GovernedEvent } from '../../src/sessions/session-record.js';

export const KEY: SessionKey = { tenant: 'acme', sessionId: 'ses-1' };
export const AT = '2026-03-01T10:00:00.000Z';
export const HEADER: SessionHeader = { formatVersion: 1, ...KEY, createdAt: AT };
const PLACE = { runId: 'run-1', turnId: 'turn-1' };

/** Governed events with counted ids and positions. */
export class GovernedEvents {
  readonly all: GovernedEvent[] = [];

  add(eventType: string, refs: Readonly<Record<string, string>> = {}, payload: JsonObject | null = {}): GovernedEvent {
    const position = this.all.length * 3;
    const eventId = `gov-${this.all.length}`;
    const streamKind = eventType.startsWith('session.') ? 'session' : 'run';
    const governed: GovernedEvent = {
      event: {
        position,
        payload,
        envelope: {
          eventId,
          eventType: eventType as EventType,
          schemaVersion: 1,
          tenant: KEY.tenant,
          streamKind: streamKind as 'run',
          streamId: refs['runId'] ?? 'stream',
          version: 1,
          unitId: `unit-${position}`,
          unitIndex: 0,
          unitSize: 1,
          producer: 'session-runtime',
          actor: { sub: 'ann' },
          correlationId: refs['toolCallId'] ?? 'run-1',
          causationId: null,
          causeKind: 'external',
          occurredAt: AT,
          recordedAt: AT,
          versionSetId: 'v1',
          sessionId: KEY.sessionId,
          ...refs,
        },
      },
      payloadCommitment: `commit-${position}`,
    };
    this.all.push(governed);
    return governed;
  }

  run(type = 'run.started', more: Readonly<Record<string, string>> = {}): GovernedEvent {
    return this.add(type, { runId: 'run-1', ...more });
  }

  /** A call of the open turn; `callId` is the model's. */
  call(type: string, callId: string, payload: JsonObject = {}): GovernedEvent {
    const said = type === 'tool.call.proposed' ? { callId, ...payload } : payload;
    return this.add(type, { ...PLACE, toolCallId: `tc-${callId}` }, said);
  }
}

/** The beginning of a conversation, as a harness appends it. */
export const said = {
  user: (messageId: string): NewSessionEvent => ({
    eventType: 'user.message',
    payload: { messageId, contents: [{ type: 'text', text: 'hello' }] },
  }),
  turn: (turnId = 'turn-1'): NewSessionEvent => ({ eventType: 'turn.started', ...PLACE, turnId, payload: {} }),
  step: (stepId = 'step-1', turnId = 'turn-1'): NewSessionEvent => ({
    eventType: 'step.started',
    ...PLACE,
    turnId,
    stepId,
    payload: {},
  }),
  delta: (index = 0): NewSessionEvent => ({
    eventType: 'assistant.delta',
    ...PLACE,
    stepId: 'step-1',
    payload: { messageId: 'm-1', index, text: 'word ' },
  }),
  message: (messageId: string, ...callIds: string[]): NewSessionEvent => ({
    eventType: 'assistant.message',
    ...PLACE,
    stepId: 'step-1',
    payload: {
      messageId,
      contents: [{ type: 'text', text: 'answer' }],
      toolCalls: callIds.map((callId) => ({ callId, name: 'pay', arguments: {} })),
    },
  }),
  reported: (callId: string): NewSessionEvent => ({
    eventType: 'tool.reported',
    ...PLACE,
    payload: { messageId: `reported-${callId}`, callId, contents: [{ type: 'text', text: 'done' }] },
  }),
  stepEnd: (outcome = 'completed', stepId = 'step-1'): NewSessionEvent => ({
    eventType: 'step.ended',
    ...PLACE,
    stepId,
    payload: { outcome },
  }),
  turnEnd: (outcome = 'completed', turnId = 'turn-1'): NewSessionEvent => ({
    eventType: 'turn.ended',
    ...PLACE,
    turnId,
    payload: { outcome },
  }),
};

/** A core with its rows, for rules that need no storage. */
export class CoreWorld {
  readonly core: SessionCore = emptyCore(KEY);
  readonly facts: SessionFact[] = [];
  readonly governed = new GovernedEvents();
  private ids = 0;

  context(producer: Producer = 'harness'): AppendContext {
    const nextEventId = (): string => `evt-${(this.ids += 1)}`;
    const holdsSecret = (payload: JsonObject): boolean => JSON.stringify(payload).includes('sk_live_');
    return { producer, nextEventId, at: AT, eventBytesMax: 10_000, holdsSecret };
  }

  /** Answers 'ok' or the code of the refusal. */
  append(
    inputs: NewSessionEvent | readonly NewSessionEvent[],
    producer: Producer = 'harness',
    groupId: string | null = null,
  ): string {
    const list = Array.isArray(inputs) ? (inputs as readonly NewSessionEvent[]) : [inputs as NewSessionEvent];
    const appended = appendToCore(this.core, list, this.context(producer), groupId);
    if (!appended.ok) return appended.code;
    this.facts.push(...appended.events);
    return 'ok';
  }

  mirror({ event, payloadCommitment }: GovernedEvent): MirroredEvent {
    const seq = this.core.headSeq + 1;
    const { envelope, position, payload } = event;
    const fact: MirroredEvent = {
      kind: 'mirror',
      seq,
      eventId: envelope.eventId,
      position,
      envelope,
      payloadCommitment,
      payload,
    };
    evolveCore(this.core, fact);
    this.facts.push(fact);
    return fact;
  }
}

/** A world with an open turn, as far as the given appends bring it. */
export function worldWith(...inputs: readonly NewSessionEvent[]): CoreWorld {
  const world = new CoreWorld();
  world.mirror(world.governed.run());
  for (const input of inputs) {
    const answer = world.append(input);
    if (answer !== 'ok') throw new Error(`${input.eventType}: ${answer}`);
  }
  return world;
}
