import type { EventPayload } from '../events/catalogue.js';

/** What a session can be told (state-machines §10, session owner). */
export type SessionCommand =
  | { readonly kind: 'open'; readonly opening: EventPayload<'session.opened'> }
  | {
      readonly kind: 'attach';
      readonly harnessInstanceId: string;
      readonly harnessVersion: string | null;
      readonly durableSeq?: number;
    }
  | { readonly kind: 'import'; readonly imported: EventPayload<'session.imported'> }
  | { readonly kind: 'record_repair'; readonly repair: EventPayload<'session.repaired'> }
  | { readonly kind: 'truncate_history'; readonly truncation: EventPayload<'session.history_truncated'> }
  | { readonly kind: 'delete'; readonly deletion: EventPayload<'session.deleted'> };

export type SessionCommandKind = SessionCommand['kind'];
