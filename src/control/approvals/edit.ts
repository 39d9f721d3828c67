import type { Caller } from '../../identity/caller.js';
import type { LoadedApproval, LoadedCall } from '../../storage/units/load.js';
import type { Speaker } from './speaker.js';

/** An approver's other arguments for a call that people are asked about: what the proposal of the new call carries along. */
export interface Edit {
  readonly original: LoadedCall;
  readonly approval: LoadedApproval;
  readonly editor: Caller;
  readonly speaker: Speaker;
  readonly digest: string;
  readonly reason: string;
  /** Of the original: the editor is one more. */
  readonly requesterSubjects: readonly string[];
}
