import type { ResumePacketRepresentation } from '../client/contract/sessions.js';
import type { AttachedSession } from '../control/attach-session/attached-session.js';
import type { JsonObject } from '../domain/json/json-value.js';

/** The resume packet on the wire. */
export function packetRepresentation(packet: AttachedSession): ResumePacketRepresentation {
  const { state, runState, pendingApprovals, checkpoint, history, ...rest } = packet;
  const path = `/v1/sessions/${encodeURIComponent(packet.sessionId)}`;
  return {
    ...rest,
    history: history.map((message) => message as unknown as JsonObject),
    waitingCalls: [...packet.waitingCalls],
    state: state as unknown as JsonObject,
    runState: runState as unknown as JsonObject | null,
    pendingApprovals: pendingApprovals.map((row) => ({
      approvalId: row.approval_id,
      toolCallId: row.tool_call_id,
      capability: row.capability,
      risk: row.risk,
      decideBy: row.decide_by,
      link: `/v1/approvals/${row.approval_id}`,
    })),
    toolCalls: [...packet.toolCalls],
    happened: [...packet.happened],
    inProgress: [...packet.inProgress],
    uncertain: [...packet.uncertain],
    nextSafe: [...packet.nextSafe],
    checkpoint:
      checkpoint === null
        ? null
        : { checkpointId: checkpoint.checkpoint_id, kind: checkpoint.kind, createdAt: checkpoint.created_at },
    links: { session: path, events: `${path}/events`, state: `${path}/state` },
  };
}
