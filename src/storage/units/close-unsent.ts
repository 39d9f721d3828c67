import type { Producer } from '../../domain/events/catalogue.js';
import { ApprovalInUnit } from './approval-in-unit.js';
import { CallInUnit } from './call-in-unit.js';
import type { LoadedApproval, LoadedCall } from './load.js';
import type { UnitDraft } from './unit-draft.js';

/** Ends a call of which nothing was sent, and the open question about it, in one unit: nobody can say yes any more. */
export function closeUnsent(
  draft: UnitDraft,
  loaded: LoadedCall,
  approval: LoadedApproval | null,
  reason: 'cancelled' | 'stopped' | 'superseded' | 'run_ended' | 'run_not_resumable',
  producer: Producer & ('control-plane' | 'recovery'),
): void {
  const call = new CallInUnit(draft, loaded);
  if (approval !== null && (approval.state.status === 'pending' || approval.state.status === 'granted')) {
    new ApprovalInUnit(draft, approval, call.refs).do({ kind: 'close', closing: { reason } }, producer);
  }
  // Why the run ended is the run's own word, and the question's.
  const closing = { reason: reason === 'run_not_resumable' ? 'run_ended' : reason } as const;
  call.do({ kind: 'close', closing }, {}, producer);
}
