import { evolveGoverned } from './governed-facts.js';
import type { ListedCall, SessionCore } from './session-core.js';
import type { SessionEvent, SessionFact } from './session-row.js';
import { callsOf, turnCommandOf } from './turn-command.js';
import { evolveTurn } from './turn.js';

/** Takes in the next row. Never judges. */
export function evolveCore(core: SessionCore, fact: SessionFact): void {
  core.headSeq = fact.seq;
  core.lastEventId = fact.eventId;
  if (fact.kind === 'mirror') evolveGoverned(core, fact);
  else evolveBuffered(core, fact);
}

function evolveBuffered(core: SessionCore, event: SessionEvent): void {
  const type = event.eventType;
  core.streamCause = type === 'assistant.delta' ? event.causationId : null;
  if (type === 'assistant.delta' || event.ignorable === true) return;
  remember(core, core.events, event.eventId);
  if (event.causationId !== null) remember(core, core.events, event.causationId);
  const { payload } = event;
  if (typeof payload['messageId'] === 'string') remember(core, core.messages, payload['messageId']);
  if (type === 'session.created') core.isCreated = true;
  if (type === 'turn.started') remember(core, core.turns, event.turnId ?? '');
  else if (type === 'step.started') remember(core, core.steps, event.stepId ?? '');
  else if (type === 'assistant.message') listCalls(core, event);
  else if (type === 'tool.message' || type === 'tool.reported') answer(core, payload['callId'] as string, event.seq);
  const command = turnCommandOf(type, event, payload);
  if (command !== null) core.turn = evolveTurn(core.turn, command);
}

function remember(core: SessionCore, ids: Set<string>, id: string): void {
  if (core.undo !== null && !ids.has(id)) core.undo.push(() => ids.delete(id));
  ids.add(id);
}

function list(core: SessionCore, callId: string, call: ListedCall): void {
  const before = core.listed.get(callId);
  core.undo?.push(() => (before === undefined ? core.listed.delete(callId) : core.listed.set(callId, before)));
  core.listed.set(callId, call);
}

function listCalls(core: SessionCore, event: SessionEvent): void {
  for (const call of callsOf(event.payload)) {
    list(core, call.callId, { turnId: event.turnId ?? '', name: call.name, answeredSeq: null });
  }
}

function answer(core: SessionCore, callId: string, seq: number): void {
  const call = core.listed.get(callId);
  if (call !== undefined) list(core, callId, { ...call, answeredSeq: seq });
}
