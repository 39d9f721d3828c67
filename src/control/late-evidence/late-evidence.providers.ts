import { CallbackSecrets } from '../../secrets/callback-secrets.js';
import { RecordCallbackHandler } from '../record-callback/record-callback.handler.js';
import { RecordStatementHandler } from '../record-statement/record-statement.handler.js';
import { LateEvidenceMatcher } from './late-evidence.matcher.js';
import { LateEvidenceRecorder } from './late-evidence.recorder.js';

/** What records evidence that comes after a request has left. */
export const LATE_EVIDENCE = [
  CallbackSecrets,
  LateEvidenceMatcher,
  LateEvidenceRecorder,
  RecordCallbackHandler,
  RecordStatementHandler,
];
