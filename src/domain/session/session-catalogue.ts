import type { Producer } from '../events/event-definition.js';
import { payloadProblem, type PayloadOf, type PayloadShape } from '../events/payload-shape.js';

/** The vocabulary of the log: a header with another number is refused, never guessed at. */
export const SESSION_FORMAT_VERSION = 1;

export type SessionRef = 'runId' | 'turnId' | 'stepId' | 'toolCallId' | 'reasoningObjectId' | 'skillId';

export interface SessionEventDefinition {
  readonly schemaVersion: number;
  readonly producers: readonly Producer[];
  /** References without which the event is refused. */
  readonly needs: readonly SessionRef[];
  readonly shape: PayloadShape;
  /** A reader that does not know the type may pass over it. */
  readonly ignorable?: true;
}

const define = <const S extends PayloadShape>(
  producers: readonly Producer[],
  needs: readonly SessionRef[],
  shape: S,
  more: { readonly ignorable?: true } = {},
): SessionEventDefinition & { readonly shape: S } => ({ schemaVersion: 1, producers, needs, shape, ...more });

const RUN: readonly SessionRef[] = ['runId'];
const TURN: readonly SessionRef[] = ['runId', 'turnId'];
const STEP: readonly SessionRef[] = ['runId', 'turnId', 'stepId'];
const HARNESS: readonly Producer[] = ['harness'];

export const TURN_OUTCOMES = ['completed', 'failed', 'interrupted', 'stopped'] as const;
export type TurnOutcome = (typeof TURN_OUTCOMES)[number];
export const STEP_OUTCOMES = ['completed', 'failed', 'cut', 'interrupted', 'stopped'] as const;
export type StepOutcome = (typeof STEP_OUTCOMES)[number];

/** What became of a call, as the conversation is told (U-02). `reported`: the harness ran a tool of its own. */
export const MESSAGE_DISPOSITIONS = [
  'completed',
  'denied',
  'not_executed',
  'failed',
  'accepted_pending',
  'result_unknown',
  'handed_off',
  'reported',
] as const;
export type MessageDisposition = (typeof MESSAGE_DISPOSITIONS)[number];

/**
 * Every buffered event: what a conversation says about itself. It lives in the session log only and decides nothing; what
 * is governed lives in the event store (`domain/events/catalogue.ts`) and is mirrored into the log.
 * A type is registered here before it can be appended and is never renamed; a new field is optional.
 */
export const SESSION_CATALOGUE = {
  'session.created': define(['session-runtime'], [], {
    metadata: 'object',
    parentSessionId: 'text?',
    parentRunId: 'text?',
    parentToolCallId: 'text?',
    subagentId: 'text?',
    formatVersion: 'integer',
  }),
  'session.harness_detached': define(['session-runtime'], [], {
    harnessInstanceId: 'text',
    ownerEpoch: 'integer',
    reason: 'text',
  }),
  'user.message': define(HARNESS, [], { messageId: 'text', contents: 'list' }),
  'assistant.delta': define(HARNESS, STEP, { messageId: 'text', index: 'integer', text: 'text' }),
  /** `toolCalls`: `[{callId, name, arguments}]`; `callId` is the model provider's. */
  'assistant.message': define(HARNESS, STEP, {
    messageId: 'text',
    contents: 'list',
    toolCalls: 'list',
    incomplete: 'boolean?',
  }),
  /**
   * The answer to a call, in the words of the record. Written by the session itself when it learns how the call ended; it names
   * the tool call unless the call was never proposed.
   */
  'tool.message': define(['capability-runtime', 'recovery'], TURN, {
    messageId: 'text',
    callId: 'text',
    contents: 'list',
    disposition: MESSAGE_DISPOSITIONS,
  }),
  /** The answer of a tool that the harness runs itself, without the proxy. Refused for a call that is governed. */
  'tool.reported': define(HARNESS, TURN, { messageId: 'text', callId: 'text', contents: 'list' }),
  'notice.message': define(['session-runtime'], [], { messageId: 'text', text: 'text', about: 'text' }),
  'system.reminder_set': define(HARNESS, [], { key: 'text', value: 'text?' }),
  'system.prompt_changed': define(HARNESS, [], { promptDigest: 'text', promptTemplateVersion: 'text' }),
  'tools.changed': define(HARNESS, [], { toolsDigest: 'text', tools: 'list' }),
  'usage.recorded': define(HARNESS, RUN, { model: 'text', tokens: 'object' }),
  'loop.advanced': define(HARNESS, RUN, { totalLoopCount: 'integer', currentLoopCount: 'integer' }),
  'metadata.updated': define(HARNESS, [], { patch: 'object' }),
  'plan.updated': define(HARNESS, RUN, { plan: 'json', planDigest: 'text' }),
  'skills.activated': define(HARNESS, [], { skills: 'list' }),
  'skill.selected': define(HARNESS, [...TURN, 'reasoningObjectId', 'skillId'], { skillVersion: 'text' }),
  'episodic.recorded': define(HARNESS, [], { episodeId: 'text', messageIds: 'list' }),
  'error.recorded': define(['harness', 'session-runtime', 'recovery'], [], {
    layer: 'text',
    code: 'text',
    message: 'text',
    retryability: ['never', 'conditional', 'always'],
  }),
  'turn.started': define(HARNESS, TURN, {}),
  'turn.ended': define(['harness', 'recovery', 'session-runtime'], TURN, { outcome: TURN_OUTCOMES }),
  'step.started': define(HARNESS, STEP, { contextBuildId: 'text?' }),
  'step.ended': define(['harness', 'recovery', 'session-runtime'], STEP, { outcome: STEP_OUTCOMES }),
  'context.projection_recorded': define(HARNESS, TURN, {
    contextBuildId: 'text',
    sourceEventRange: 'list',
    includedObjectRefs: 'list',
    omittedObjectRefs: 'list',
    compactionPolicyVersion: 'text',
    promptTemplateVersion: 'text',
    tokenBudget: 'integer',
  }),
  'tool.call.progressed': define(
    ['capability-runtime'],
    ['runId', 'toolCallId'],
    { percent: 'integer?', note: 'text?' },
    { ignorable: true },
  ),
  'subagent.progressed': define(HARNESS, RUN, { subagentId: 'text', note: 'text' }, { ignorable: true }),
  'versions.recorded': define(['session-runtime'], [], { versionSetId: 'text', versions: 'object' }),
} as const satisfies Record<string, SessionEventDefinition>;

export type SessionEventType = keyof typeof SESSION_CATALOGUE;
export type SessionPayload<T extends SessionEventType> = PayloadOf<(typeof SESSION_CATALOGUE)[T]['shape']>;

export function isSessionEventType(type: string): type is SessionEventType {
  return Object.hasOwn(SESSION_CATALOGUE, type);
}

/** Names the first field of a payload that does not fit its type, or null. Values are never part of the answer. */
export function sessionPayloadProblem(
  type: SessionEventType,
  payload: Readonly<Record<string, unknown>>,
): string | null {
  return payloadProblem(SESSION_CATALOGUE[type].shape, payload);
}
