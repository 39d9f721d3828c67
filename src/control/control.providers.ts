import { APPROVAL_ACTS } from './approvals/approvals.providers.js';
import { CancelToolCallHandler } from './cancel-tool-call/cancel-tool-call.handler.js';
import { CommandLog } from './command-log.js';
import { DecideApprovalHandler } from './decide-approval/decide-approval.handler.js';
import { LostGround } from './decide-approval/lost-ground.js';
import { IntentReader } from './propose-tool-call/intent-reader.js';
import { ProposalUnits } from './propose-tool-call/proposal-units.js';
import { SECRETS } from './secrets.providers.js';
import { STORE_KEEPING } from './store-keeping.providers.js';
import { LATE_EVIDENCE } from './late-evidence/late-evidence.providers.js';
import { ProposeToolCallHandler } from './propose-tool-call/propose-tool-call.handler.js';
import { RunDirectory } from './propose-tool-call/run-directory.js';
import { RecordCallbackHandler } from './record-callback/record-callback.handler.js';
import { RecordStatementHandler } from './record-statement/record-statement.handler.js';
import { RUN_CHAIN } from './run-chain.providers.js';
import { POLICY_COMMANDS } from './policy-life.providers.js';
import { ReplayDeliveriesHandler } from './replay-deliveries/replay-deliveries.handler.js';
import { ResolveHandoffHandler } from './resolve-handoff/resolve-handoff.handler.js';
import { ResumeAuthorizedHandler } from './resume-authorized/resume-authorized.handler.js';
import { RUN_CONTROL } from './run-control.providers.js';
import { RetryToolCallHandler } from './retry-tool-call/retry-tool-call.handler.js';
import { SetPauseHandler } from './set-pause/set-pause.handler.js';
import { SESSION_COMMANDS } from './sessions.providers.js';

/** Every command and what its handlers share. */
export const CONTROL = [
  ...RUN_CONTROL,
  CommandLog,
  IntentReader,
  LostGround,
  ProposalUnits,
  RunDirectory,
  ProposeToolCallHandler,
  DecideApprovalHandler,
  ...APPROVAL_ACTS,
  CancelToolCallHandler,
  RetryToolCallHandler,
  SetPauseHandler,
  ...POLICY_COMMANDS,
  ResumeAuthorizedHandler,
  ResolveHandoffHandler,
  ReplayDeliveriesHandler,
  ...SECRETS,
  ...STORE_KEEPING,
  ...LATE_EVIDENCE,
  RecordCallbackHandler,
  RecordStatementHandler,
  ...RUN_CHAIN,
  ...SESSION_COMMANDS,
];
