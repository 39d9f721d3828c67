import type { OutcomeStatus } from '../../domain/outcome/outcome.state.js';

/** Rows of outcomes, of the feedback about them, and of what a harness has stated about its runs. Part of `Tables`. */
export interface OutcomeTables {
  /** What the world shows of a call; present once its verification was opened. */
  outcomes: {
    tool_call_id: string;
    tenant: string;
    run_id: string;
    session_id: string;
    correlation_id: string;
    criteria_id: string;
    criteria_version: string;
    /** JSON: string[]. */
    needs: string;
    within_ms: number;
    attempt: number;
    deadline: string;
    /** JSON: SeenEvidence[]. */
    seen: string;
    status: OutcomeStatus;
    /** Basis of a confirmed failure, reason of an inconclusive verification. */
    status_reason: string | null;
    version: number;
    /** The newest verdict or contradiction: its payload holds the evidence that is shown. */
    verdict_event_id: string | null;
    last_event_id: string;
    created_at: string;
    updated_at: string;
  };
  /** One feedback of one source about one call, and what became of it. */
  outcome_feedback: {
    tool_call_id: string;
    /** `principalKey` of the source. */
    source: string;
    /** The source's own id. */
    feedback_id: string;
    tenant: string;
    request_digest: string;
    status: 'received' | 'rejected';
    code: string | null;
    event_id: string;
    received_at: string;
  };
  /** What a harness has stated about a run. A turn has no event here: its story belongs to the log of its session. */
  run_objects: {
    object_id: string;
    tenant: string;
    run_id: string;
    kind: 'turn' | 'reasoning' | 'artifact' | 'subagent';
    /** The harness's own id, unique per run and kind. */
    client_id: string;
    request_digest: string;
    turn_id: string | null;
    /** The business intent: calls that name a reasoning object belong to it. */
    correlation_id: string;
    /** `running`, `completed` and `failed` are those of a sub-agent. */
    state: 'recorded' | 'running' | 'completed' | 'failed';
    event_id: string | null;
    created_at: string;
    updated_at: string;
  };
}
