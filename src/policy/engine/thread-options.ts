import type { ResourceLimits } from 'node:worker_threads';
import { Worker } from 'node:worker_threads';
import { preventInliningAborts } from './cedar-module.js';
import type { ThreadStart } from './worker-messages.js';

export interface PolicyThreadOptions {
  /** Without progress for this long everything in flight is denied and the thread is replaced. */
  readonly evaluationTimeoutMs: number;
  /** For checking a candidate and for starting a thread with it. */
  readonly startTimeoutMs?: number;
  /** Pause after a thread that would not even start. */
  readonly restartDelayMs?: number;
  /** Requests waiting for the thread; what is over is denied at once. */
  readonly queueMax?: number;
  /** The compiled worker; by default the neighbour of this module. */
  readonly entry?: URL;
  /** Told each time a thread is lost, with the code that its requests were denied with: for logs and metrics. */
  readonly onLost?: (code: string) => void;
}

export type CompleteOptions = Required<PolicyThreadOptions>;

export function completeOptions(options: PolicyThreadOptions): CompleteOptions {
  return {
    evaluationTimeoutMs: options.evaluationTimeoutMs,
    startTimeoutMs: options.startTimeoutMs ?? 30_000,
    restartDelayMs: options.restartDelayMs ?? 1_000,
    queueMax: options.queueMax ?? 2_048,
    entry: options.entry ?? new URL('./policy.worker.js', import.meta.url),
    onLost: options.onLost ?? (() => undefined),
  };
}

/**
 * The same for checking and for serving, so that what was checked also runs. Requests are small and die at once, so the young
 * generation is small too: it is memory that is used up to its limit whatever the load.
 */
const RESOURCES: ResourceLimits = { stackSizeMb: 4, maxOldGenerationSizeMb: 512, maxYoungGenerationSizeMb: 12 };

/** The thread sees no environment variables: it needs none, and secrets may be among them. */
export function startThread(entry: URL, start: ThreadStart): Worker {
  preventInliningAborts();
  return new Worker(entry, {
    workerData: start,
    name: `policy-${start.role}`,
    resourceLimits: RESOURCES,
    env: {},
    execArgv: [],
  });
}
