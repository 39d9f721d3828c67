import type { EventPayload } from '../events/catalogue.js';
import type { FeedbackVerdict } from '../events/outcome-events.js';

/** Where evidence is kept. `digest` is `sha256:…` of it, null where a person named a place only. */
export interface Evidence {
  readonly kind: string;
  readonly ref: string;
  readonly digest: string | null;
}

/** What a source may do, as the manifest in force says; a person who operates is bound to no kinds. */
export interface SourceRights {
  readonly kinds: readonly string[];
  /** May contradict what was confirmed. */
  readonly authoritative: boolean;
}

/** One feedback about a call. The source is the authenticated caller, never a word of the body. */
export interface Feedback {
  readonly feedbackId: string;
  readonly source: string;
  readonly verdict: FeedbackVerdict;
  readonly criteriaId: string;
  readonly criteriaVersion: string;
  readonly evidence: readonly Evidence[];
  /** ISO 8601: when the source looked. */
  readonly verifiedAt: string;
  readonly note: string | null;
}

export type OutcomeCommand =
  | {
      readonly kind: 'open'; // O1
      readonly opening: Omit<EventPayload<'outcome.verification_opened'>, 'deadline'>;
      readonly now: string;
    }
  | {
      readonly kind: 'take_feedback'; // O2–O7
      readonly feedback: Feedback;
      /** Null: the source is not on the list. */
      readonly rights: SourceRights | null;
      readonly now: string;
    }
  | {
      readonly kind: 'take_finding'; // O2–O6, by an operator
      readonly feedback: Omit<Feedback, 'criteriaId' | 'criteriaVersion'>;
      readonly now: string;
    }
  | { readonly kind: 'reject'; readonly rejection: EventPayload<'feedback.rejected'> } // O7
  | { readonly kind: 'expire'; readonly now: string } // O4
  | { readonly kind: 'note_no_effect'; readonly now: string }; // O8

/** The command of one kind. */
export type OutcomeCommandOf<K extends OutcomeCommandKind> = Extract<OutcomeCommand, { readonly kind: K }>;

export type OutcomeCommandKind = OutcomeCommand['kind'];
