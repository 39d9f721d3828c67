import { CallbackSecrets } from '../../secrets/callback-secrets.js';
import { LateEvidenceMatcher } from './late-evidence.matcher.js';
import { LateEvidenceRecorder } from './late-evidence.recorder.js';

/** What verifies, matches and records evidence that comes after a request has left, for the commands that bring it. */
export const LATE_EVIDENCE = [CallbackSecrets, LateEvidenceMatcher, LateEvidenceRecorder];
