import { refuse } from '../errors/error-codes.js';
import { decided, type Decided } from '../events/decided.js';
import type { EventIn } from '../events/domain-event.js';
import type { SessionCommand } from './session.commands.js';
import type { SessionState } from './session.state.js';

export type SessionRecordEvent = EventIn<'session'>;

/** What a command makes true of a session, or why it is refused. `session.transitions.ts` says the same as a table. */
export function decideSession(state: SessionState | null, command: SessionCommand): Decided<SessionRecordEvent> {
  if (command.kind === 'open') return open(state, command.opening);
  if (state === null) return refuse('session_not_found', 'There is no such session.');
  if (state.status === 'deleted') {
    return command.kind === 'delete' ? decided() : refuse('session_deleted', 'The session was deleted.');
  }
  switch (command.kind) {
    case 'attach':
      return decided({
        type: 'session.harness_attached',
        payload: {
          harnessInstanceId: command.harnessInstanceId,
          ownerEpoch: state.ownerEpoch + 1,
          harnessVersion: command.harnessVersion,
          ...(command.durableSeq === undefined ? {} : { durableSeq: command.durableSeq }),
        },
      });
    case 'import':
      return decided({ type: 'session.imported', payload: command.imported });
    case 'record_repair':
      return decided({ type: 'session.repaired', payload: command.repair });
    case 'truncate_history':
      return decided({ type: 'session.history_truncated', payload: command.truncation });
    case 'delete':
      return decided({ type: 'session.deleted', payload: command.deletion });
  }
}

function open(
  state: SessionState | null,
  opening: Extract<SessionCommand, { kind: 'open' }>['opening'],
): Decided<SessionRecordEvent> {
  if (state === null) return decided({ type: 'session.opened', payload: opening });
  return state.status === 'deleted'
    ? refuse('session_deleted', 'A session of this id was deleted; its id is not used again.')
    : refuse('session_exists', 'There is a session of this id.');
}
