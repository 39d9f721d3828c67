/** Columns of a question besides who is asked and what they said. Part of `Tables`. */
export interface ApprovalBeyondColumns {
  /** What questions of one turn share. */
  batch_id: string | null;
  /** JSON: Delegation[]. */
  delegations: string;
  /** JSON: Escalation[]. */
  escalations: string;
  /** When the next rule is to be widened; null when none is. */
  escalate_at: string | null;
  break_glass_by: string | null;
  reviewed_by: string | null;
  review_finding: 'justified' | 'not_justified' | null;
  /** 1 while somebody has to look at what was let pass in an emergency. */
  review_owed: number;
}

/** Rights that stand until a time, and what people have refused. Part of `Tables`. */
export interface StandingTables {
  /** One person's standing allow. Which arguments it is for is in the sealed event. */
  grants: {
    grant_id: string;
    tenant: string;
    granted_by: string;
    approver_group: string;
    capability: string;
    principal_sub: string | null;
    principal_act: string | null;
  } & Lifetime;
  delegations: {
    delegation_id: string;
    tenant: string;
    lent_by: string;
    lent_to: string;
    /** JSON: string[]. */
    groups: string;
  } & Lifetime;
  /** An explicit no to one intent: no grant covers it again. Operational; the no itself is an event of the call. */
  refused_intents: { tenant: string; intent_digest: string; tool_call_id: string; refused_at: string };
}

interface Lifetime {
  until: string;
  status: 'active' | 'revoked' | 'expired';
  revoked_by: string | null;
  version: number;
  created_event_id: string;
  last_event_id: string;
  created_at: string;
  updated_at: string;
}
