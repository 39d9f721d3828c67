import type {
  AppendEventsBody,
  AttachSessionBody,
  DetachSessionBody,
  NotResumableBody,
  OpenSessionBody,
  SaveStateBody,
  StartRunBody,
} from '../../client/contract/sessions.js';

const CALL = 'call_01jz0q6k3v5m8x2c4d7f9h1k3n';
const RUN = 'run_01jz0q6k3v5m8x2c4d7f9h1k3q';
const TURN = 'turn_01jz0q6k3v5m8x2c4d7f9h1k3t';
const harness: AttachSessionBody['harness'] = { instanceId: 'support-agent-7f', version: '2.4.0' };
const sessions: OpenSessionBody[] = [
  { sessionId: 'ticket-4711', metadata: { customer: 'c_88' }, harness },
  { harness, parent: { sessionId: 'ticket-4711', runId: RUN, toolCallId: CALL, subagentId: 'lookup-1' } },
];
const batch: AppendEventsBody = {
  ownerEpoch: 2,
  expectedSeq: 12,
  atomic: true,
  events: [
    {
      type: 'user.message',
      payload: { messageId: 'm1', contents: [{ type: 'text', text: 'The parcel arrived damaged.' }] },
    },
    { type: 'turn.started', runId: RUN, turnId: TURN, payload: {} },
    { type: 'step.started', runId: RUN, turnId: TURN, stepId: 'step-1', payload: {} },
  ],
};
const startRun: StartRunBody = { ownerEpoch: 2, clientId: 'answer-1', goalRef: 'tickets/4711' };
const detach: DetachSessionBody = { ownerEpoch: 2, reason: 'The ticket is closed.' };
const saveState: SaveStateBody = { ownerEpoch: 2, savePoint: 'after_tool_batch' };
const notResumable: NotResumableBody = { ownerEpoch: 2, reason: 'The working directory is gone.' };

/** Examples of what is sent about durable sessions, by the id of the schema they show. */
export const SESSION_EXAMPLES: Readonly<Record<string, readonly unknown[]>> = {
  Harness: [harness],
  OpenSession: sessions,
  AttachSession: [{ harness }],
  DetachSession: [detach],
  AppendEvents: [batch],
  FlushSession: [{}],
  SaveState: [saveState],
  MarkNotResumable: [notResumable],
  StartRun: [startRun],
};
