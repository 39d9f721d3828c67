import type { CheckpointStatus } from '../../domain/checkpoint/checkpoint.state.js';
import type { CheckpointKind, CompatibilityVerdict } from '../../domain/events/session-events.js';
import type { SessionStatus } from '../../domain/session/session.state.js';

/** Rows of durable sessions and of where their runs can go on. Part of `Tables`. */
export interface SessionTables {
  /** Whose a session is and who may append to its log; the conversation is in the log. */
  sessions: {
    tenant: string;
    session_id: string;
    /** `principalKey` of domain/principal. */
    principal: string;
    status: SessionStatus;
    owner_epoch: number;
    harness_instance_id: string | null;
    /** JSON: SessionParent. */
    parent: string | null;
    version: number;
    created_at: string;
    updated_at: string;
  };
  checkpoints: {
    checkpoint_id: string;
    tenant: string;
    session_id: string;
    run_id: string;
    turn_id: string | null;
    kind: CheckpointKind;
    status: CheckpointStatus;
    verdict: CompatibilityVerdict | null;
    version: number;
    created_at: string;
    updated_at: string;
  };
}
