import { AppendEventsHandler } from './append-events/append-events.handler.js';
import { AttachSessionHandler } from './attach-session/attach-session.handler.js';
import { DeleteSessionHandler } from './delete-session/delete-session.handler.js';
import { DetachSessionHandler } from './detach-session/detach-session.handler.js';
import { FlushSessionHandler } from './flush-session/flush-session.handler.js';
import { MarkSessionHandler } from './mark-session/mark-session.handler.js';
import { OpenSessionHandler } from './open-session/open-session.handler.js';
import { SessionAccess } from './read-session/session-access.js';
import { ReloadSessionHandler } from './reload-session/reload-session.handler.js';
import { SaveStateHandler } from './save-state/save-state.handler.js';
import { StartRunHandler } from './start-run/start-run.handler.js';

/** Commands about durable sessions and the runs in them. */
export const SESSION_COMMANDS = [
  SessionAccess,
  OpenSessionHandler,
  AttachSessionHandler,
  DetachSessionHandler,
  DeleteSessionHandler,
  AppendEventsHandler,
  FlushSessionHandler,
  SaveStateHandler,
  MarkSessionHandler,
  StartRunHandler,
  ReloadSessionHandler,
];
