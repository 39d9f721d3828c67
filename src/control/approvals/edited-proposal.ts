import { requesters, type Caller } from '../../identity/caller.js';
import { ApprovalInUnit } from '../../storage/units/approval-in-unit.js';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import type { UnitDraft } from '../../storage/units/unit-draft.js';
import type { Proposal } from '../propose-tool-call/propose-tool-call.command.js';
import type { Edit } from './edit.js';

/** Everybody who counts as the requester: of edited arguments also the one who edited, since nobody approves their own. */
export function requestersOf(caller: Caller, { edits }: Proposal): readonly string[] {
  if (edits === undefined) return requesters(caller);
  return [...new Set([...edits.requesterSubjects, edits.editor.actor.sub])];
}

/** The question about the old arguments closes, and their call ends, in the unit that proposes the new ones. */
export function supersede(draft: UnitDraft, edit: Edit, newToolCallId: string, now: string): void {
  const { original, approval, speaker, digest, reason } = edit;
  const call = new CallInUnit(draft, original);
  new ApprovalInUnit(draft, approval, call.refs).do({
    kind: 'edit',
    voter: speaker.voter,
    consentDigest: digest,
    reason,
    newToolCallId,
    now,
  });
  for (const guard of speaker.guards) draft.guard(guard);
  call.do({ kind: 'close', closing: { reason: 'superseded' } }, {}, 'control-plane');
}
