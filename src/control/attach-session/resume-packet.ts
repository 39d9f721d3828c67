import { recoveryClassOf, type RecoveryClass } from '../../contracts/core/resume-contract.js';
import { dispositionOf, type WaitingFor } from '../../domain/disposition/disposition.js';
import { isTerminal, type ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import type { RunStatus } from '../../domain/run/run.state.js';
import { isEnded } from '../../domain/run/run.state.js';

/** A governed call of the run that a harness takes over. */
export interface KnownCall {
  readonly toolCallId: string;
  readonly callId: string | null;
  readonly turnId: string | null;
  readonly state: ToolCallState;
}

export interface CallInPacket {
  readonly toolCallId: string;
  readonly callId: string | null;
  readonly turnId: string | null;
  readonly capability: string;
  readonly status: ToolCallState['status'];
  readonly recovery: RecoveryClass;
  readonly mayHaveHappened: boolean;
  readonly retryAllowed: boolean;
  readonly waitingFor: WaitingFor;
  readonly guidance: string;
}

/** The four answers of a recovery (K-103): what is settled, what moves, what nobody knows, and what adds no new risk. */
export interface Recovery {
  readonly toolCalls: readonly CallInPacket[];
  readonly happened: readonly string[];
  readonly inProgress: readonly string[];
  readonly uncertain: readonly string[];
  readonly nextSafe: readonly string[];
}

/** What a harness may do next. In the order in which it should. */
type Step =
  | 'resume_run'
  | 'wait_for_approval'
  | 'wait_for_execution'
  | 'wait_for_result'
  | 'ask_about_unknown_results'
  | 'new_model_call'
  | 'start_run'
  | 'read_only';

export function recoveryOf(run: RunStatus | null, calls: readonly KnownCall[], canResume: boolean): Recovery {
  const toolCalls = calls.map(callInPacket);
  const ids = (matches: (call: CallInPacket) => boolean): string[] =>
    toolCalls.filter(matches).map(({ toolCallId }) => toolCallId);
  return {
    toolCalls,
    happened: ids(({ status, mayHaveHappened }) => status === 'completed' || (status === 'failed' && mayHaveHappened)),
    inProgress: ids(({ status, recovery }) => recovery === 'replay' || status === 'accepted'),
    uncertain: ids(isUncertain),
    nextSafe: nextSafe(run, toolCalls, canResume),
  };
}

function callInPacket({ toolCallId, callId, turnId, state }: KnownCall): CallInPacket {
  const { mayHaveHappened, retryAllowed, waitingFor, guidance } = dispositionOf(state);
  return {
    toolCallId,
    callId,
    turnId,
    capability: `${state.capability}@${state.capabilityVersion}`,
    status: state.status,
    recovery: recoveryClassOf(state.status),
    mayHaveHappened,
    retryAllowed,
    waitingFor,
    guidance,
  };
}

/** Something may have been sent and no answer is on record. */
const isUncertain = ({ status, mayHaveHappened }: CallInPacket): boolean =>
  status === 'dispatching' ||
  status === 'dispatched' ||
  status === 'result_unknown' ||
  status === 'reconciling' ||
  (status === 'manual_handoff' && mayHaveHappened);

function nextSafe(run: RunStatus | null, calls: readonly CallInPacket[], canResume: boolean): Step[] {
  if (!canResume) return ['read_only'];
  if (run === null || isEnded(run)) return ['start_run'];
  const steps: Step[] = [];
  if (run === 'interrupted' || run === 'suspended') steps.push('resume_run');
  const waits = (waitingFor: WaitingFor): boolean => calls.some((call) => call.waitingFor === waitingFor);
  if (waits('approval')) steps.push('wait_for_approval');
  if (waits('execution')) steps.push('wait_for_execution');
  if (waits('upstream')) steps.push('wait_for_result');
  if (calls.some(isUncertain)) steps.push('ask_about_unknown_results');
  // A model is asked anew only when no call of its last answer is open.
  if (!calls.some(({ status }) => isOpen(status))) steps.push('new_model_call');
  return steps;
}

const isOpen = (status: ToolCallState['status']): boolean => !isTerminal(status);
