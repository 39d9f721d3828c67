/** Everything a verifier can find wrong with a bundle. Wire format: never renamed. */
export const FINDING_CODES = [
  'container_unreadable',
  'container_not_canonical',
  'part_missing',
  'part_unknown',
  'part_changed',
  'part_malformed',
  'manifest_unsigned',
  'origin_differs',
  'text_unsafe',
  'entry_malformed',
  'position_repeated',
  'position_out_of_order',
  'position_missing',
  'position_out_of_scope',
  'leaf_differs',
  'payload_differs',
  'tenant_differs',
  'event_repeated',
  'stream_gap',
  'unit_incomplete',
  'unit_mixed',
  'cause_not_before',
  'cause_unknown',
  'root_differs',
  'proof_malformed',
  'tree_size_differs',
  'checkpoint_unsigned',
  'checkpoint_size_down',
  'checkpoints_inconsistent',
  'consistency_missing',
  'key_unlisted',
  'key_out_of_window',
  'witness_invalid',
  'witness_missing',
  'kept_checkpoint_unusable',
  'kept_checkpoint_ahead',
  'kept_checkpoint_differs',
  'kept_checkpoint_unproven',
  'object_differs',
  'object_missing',
  'object_unreferenced',
  'policy_set_missing',
  'policy_schema_missing',
  'arguments_differ',
  'shown_differs',
  'consent_differs',
  'vote_repeated',
  'vote_after_grant',
  'vote_consent_differs',
  'grant_without_quorum',
  'grant_repeated',
  'consumed_twice',
  'consumed_without_grant',
  'dispatch_without_authorization',
  'dispatch_without_approval',
  'dispatched_twice',
] as const;
export type FindingCode = (typeof FINDING_CODES)[number];

export interface Finding {
  readonly code: FindingCode;
  /** For people. */
  readonly message: string;
  /** The part it is in, where there is one. */
  readonly part: string | null;
  /** The first bad entry: its position in the log, where one can be named. */
  readonly position: number | null;
  readonly eventId: string | null;
}

/** What is true of a good bundle all the same, and a reader must know. */
export const STATEMENT_CODES = [
  'truncation_not_excluded',
  'payloads_withheld',
  'entries_hidden',
  'selection_only',
] as const;
export type StatementCode = (typeof STATEMENT_CODES)[number];

export interface Statement {
  readonly code: StatementCode;
  readonly message: string;
}

export interface Place {
  readonly part?: string;
  readonly position?: number;
  readonly eventId?: string | undefined;
}

/** As many of one code as anybody reads; the rest is counted. */
const PER_CODE_MAX = 100;

/** Collects findings in the order in which they are found. */
export class Findings {
  readonly list: Finding[] = [];
  /** Findings beyond those that are listed. */
  leftOut = 0;
  private readonly counts = new Map<FindingCode, number>();

  add(code: FindingCode, message: string, { part, position, eventId }: Place = {}): void {
    const count = (this.counts.get(code) ?? 0) + 1;
    this.counts.set(code, count);
    if (count > PER_CODE_MAX) this.leftOut += 1;
    else this.list.push({ code, message, part: part ?? null, position: position ?? null, eventId: eventId ?? null });
  }
}
