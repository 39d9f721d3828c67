import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { ID_PREFIXES, isId } from '../../domain/ids/ids.js';
import { principalOf } from '../../domain/principal.js';
import { SESSION_FORMAT_VERSION } from '../../domain/session/session-catalogue.js';
import { newSessionIdProblem } from '../../domain/session/session-id.js';
import type { SessionParent } from '../../domain/session/session-row.js';
import type { Caller } from '../../identity/caller.js';
import { SessionDesk } from '../../sessions/session-desk.js';
import { GuardFailed } from '../../storage/unit.js';
import { SessionInUnit } from '../../storage/units/session-in-unit.js';
import { UnitDesk } from '../../storage/units/unit-desk.js';
import { attachHarness } from '../attach-session/attach-harness.js';
import { loadOwnSession } from '../own-session.js';
import { OpenSession } from './open-session.command.js';

/**
 * The record first, then the log, then the owner: whose the session is must be known before anything is said in it, and who
 * attaches says up to where the log is on disk. A crash before that leaves a session that nobody has attached to yet.
 */
@CommandHandler(OpenSession)
export class OpenSessionHandler implements ICommandHandler<OpenSession> {
  constructor(
    private readonly desk: UnitDesk,
    private readonly sessions: SessionDesk,
  ) {}

  async execute(command: OpenSession): Promise<{ readonly sessionId: string }> {
    const { caller, metadata, parent } = command;
    const sessionId = command.sessionId ?? this.desk.newId(ID_PREFIXES.session);
    const problem = newSessionIdProblem(sessionId);
    if (problem !== null) throw new CountersignError('invalid_session_id', problem, { pointer: '/sessionId' });
    if (isId(ID_PREFIXES.run, sessionId)) {
      // A run that calls opened is a session of its own, and has this name.
      throw new CountersignError('invalid_session_id', 'a session is not named like a run', { pointer: '/sessionId' });
    }
    if (parent !== null) await this.mustBeThere(caller, parent);
    await this.sessions.mustBeFree({ tenant: caller.tenant, sessionId }, metadata);
    await this.record(command, sessionId);
    const row = await loadOwnSession(this.desk.read, caller, sessionId);
    const live = await this.sessions.begin(row, metadata);
    const { durableSeq } = live.status();
    // Only now: from here on the store knows that there is a log, and up to where.
    const owned = await attachHarness(this.desk, caller, sessionId, { harness: command.harness, durableSeq });
    await (await this.sessions.open(owned)).flush();
    return { sessionId };
  }

  /** D-84, K-26: whose work it does is named by what exists in the session of that one. */
  private async mustBeThere(
    caller: Caller,
    { sessionId, runId, toolCallId, subagentId }: SessionParent,
  ): Promise<void> {
    const { read } = this.desk;
    const { tenant } = caller;
    await loadOwnSession(read, caller, sessionId);
    const sessionOf = async (id: string): Promise<string | null> => (await read.run(tenant, id))?.session_id ?? null;
    if (runId !== undefined && (await sessionOf(runId)) !== sessionId) throw dangling('runId');
    const call = toolCallId === undefined ? null : await read.toolCall(tenant, toolCallId);
    if (toolCallId !== undefined && call?.session_id !== sessionId) throw dangling('toolCallId');
    if (subagentId === undefined) return;
    const spawned = await read.runObject(tenant, subagentId);
    if (spawned?.kind !== 'subagent' || (await sessionOf(spawned.run_id)) !== sessionId) throw dangling('subagentId');
  }

  private async record({ caller, parent }: OpenSession, sessionId: string): Promise<void> {
    const { tenant } = caller;
    const existing = await this.desk.read.session(tenant, sessionId);
    if (existing !== null) {
      const code = existing.status === 'deleted' ? 'session_deleted' : 'session_exists';
      throw new CountersignError(code, 'there is, or was, a session of this id');
    }
    const now = this.desk.now();
    const draft = this.desk.begin({
      tenant,
      lane: 'admit',
      actor: caller.actor,
      correlationId: sessionId,
      sessionId,
      occurredAt: now,
      causationId: null,
      causeKind: 'external',
    });
    const facts = { tenant, session_id: sessionId, version: 0, created_at: now, updated_at: now };
    const opening = {
      principal: { ...principalOf(caller.actor) },
      formatVersion: SESSION_FORMAT_VERSION,
      ...(parent === null
        ? {}
        : {
            parentSessionId: parent.sessionId,
            parentRunId: parent.runId ?? null,
            parentToolCallId: parent.toolCallId ?? null,
            subagentId: parent.subagentId ?? null,
          }),
    };
    new SessionInUnit(draft, { state: null, facts }).do({ kind: 'open', opening });
    try {
      await this.desk.commit(draft);
    } catch (error) {
      if (!(error instanceof GuardFailed)) throw error;
      throw new CountersignError('session_exists', 'somebody else has just opened a session of this id');
    }
  }
}

const dangling = (field: string): CountersignError =>
  new CountersignError('dangling_reference', `${field} names nothing in the parent session`, {
    pointer: `/parent/${field}`,
  });
