import type { BundleScope } from '../bundle/bundle-format.js';
import { placeOf } from './check-streams.js';
import type { EntryCheck, VisibleEntry } from './entry.js';
import type { Findings } from './findings.js';

/** Every event is there once, and what caused it stands before it. */
export function causeCheck(scope: BundleScope, findings: Findings): EntryCheck {
  const seen = new Set<string>();
  const open: VisibleEntry[] = [];
  let isWholeLog = scope.kind === 'range' && scope.from === 0;
  return {
    see(entry) {
      if (entry.kind === 'hidden') {
        isWholeLog = false;
        return;
      }
      const { eventId, causationId } = entry.envelope;
      if (causationId !== null && !seen.has(causationId)) open.push(entry);
      if (seen.has(eventId)) findings.add('event_repeated', 'An event with this id stands before.', placeOf(entry));
      seen.add(eventId);
    },
    end() {
      for (const entry of open) {
        const isLater = seen.has(entry.envelope.causationId ?? '');
        if (isLater)
          findings.add('cause_not_before', 'What caused the event does not stand before it.', placeOf(entry));
        else if (isWholeLog) findings.add('cause_unknown', 'What caused the event is not in the log.', placeOf(entry));
      }
    },
  };
}
