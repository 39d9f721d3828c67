import { CompensateToolCallHandler } from './compensate-tool-call/compensate-tool-call.handler.js';
import { LEASE_COMMANDS } from './leases/leases.providers.js';
import { ReportModelCancelledHandler } from './report-model-cancelled/report-model-cancelled.handler.js';
import { ResumeRunHandler } from './resume-run/resume-run.handler.js';
import { StopRunHandler } from './stop-run/stop-run.handler.js';
import { SuspendRunHandler } from './suspend-run/suspend-run.handler.js';

/** Commands about whole runs, about what was lent in them, and about undoing what a call has done. */
export const RUN_CONTROL = [
  StopRunHandler,
  SuspendRunHandler,
  ResumeRunHandler,
  ReportModelCancelledHandler,
  CompensateToolCallHandler,
  ...LEASE_COMMANDS,
];
