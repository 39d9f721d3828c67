import type { EventPayload } from '../events/catalogue.js';

/** What a run can be told. The letters are rows of the run table; waits (R2–R7) are views and have no command. */
export type RunCommand =
  | { readonly kind: 'start'; readonly start: EventPayload<'run.started'> } // R1
  | { readonly kind: 'request_suspend'; readonly request: EventPayload<'run.suspend_requested'> } // R8
  | { readonly kind: 'suspend'; readonly suspension: EventPayload<'run.suspended'> } // R9, R11
  | { readonly kind: 'resume'; readonly resumption: EventPayload<'run.resumed'> } // R10
  | { readonly kind: 'interrupt'; readonly interruption: EventPayload<'run.interrupted'> } // R11
  | { readonly kind: 'request_stop'; readonly request: EventPayload<'stop.requested'> } // R13
  | { readonly kind: 'cancel_model'; readonly cancellation: EventPayload<'model.cancelled'> } // S3, S4
  | { readonly kind: 'stop'; readonly stop: EventPayload<'run.stopped'>; readonly openCalls: number } // R14
  | { readonly kind: 'complete'; readonly completion: EventPayload<'run.completed'>; readonly openCalls: number } // R15
  | { readonly kind: 'fail'; readonly failure: EventPayload<'run.failed'> } // R16
  | { readonly kind: 'hand_off'; readonly handoff: EventPayload<'run.handed_off'> } // R17
  | { readonly kind: 'mark_not_resumable'; readonly marking: EventPayload<'run.marked_not_resumable'> } // R18
  | { readonly kind: 'record_reasoning'; readonly reasoning: EventPayload<'reasoning.recorded'> }
  | { readonly kind: 'record_artifact'; readonly artifact: EventPayload<'artifact.created'> }
  | { readonly kind: 'spawn_subagent'; readonly spawning: EventPayload<'subagent.spawned'> }
  | {
      readonly kind: 'end_subagent'; // R19
      readonly end: EventPayload<'subagent.completed'>;
      readonly succeeded: boolean;
    };

/** The command of one kind. */
export type RunCommandOf<K extends RunCommandKind> = Extract<RunCommand, { readonly kind: K }>;

export type RunCommandKind = RunCommand['kind'];
