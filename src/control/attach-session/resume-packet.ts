import { recoveryClassOf, type RecoveryClass } from '../../contracts/core/resume-contract.js';
import { dispositionOf, type Happened, type WaitingFor } from '../../domain/disposition/disposition.js';
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
  | 'propose_waiting_calls'
  | 'wait_for_approval'
  | 'wait_for_execution'
  | 'wait_for_result'
  | 'ask_about_unknown_results'
  | 'new_model_call'
  | 'start_run'
  | 'read_only';

/** Where the session stands that a harness takes over. */
export interface Standing {
  /** Null: no run is under way. */
  readonly run: RunStatus | null;
  readonly canResume: boolean;
  /** The model's ids of the calls that its last message listed and nothing has answered. */
  readonly waitingCalls: readonly string[];
}

export function recoveryOf(standing: Standing, calls: readonly KnownCall[]): Recovery {
  const known = calls.map((call) => ({ call: callInPacket(call), happened: dispositionOf(call.state).happened }));
  const ids = (matches: (known: Known) => boolean): string[] =>
    known.filter(matches).map(({ call }) => call.toolCallId);
  return {
    toolCalls: known.map(({ call }) => call),
    happened: ids(({ happened }) => happened === 'yes' || happened === 'partly'),
    inProgress: ids(({ call }) => call.recovery === 'replay' || call.status === 'accepted'),
    uncertain: ids(isUncertain),
    nextSafe: nextSafe(standing, known),
  };
}

interface Known {
  readonly call: CallInPacket;
  readonly happened: Happened;
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

/** Something may have been sent and nobody knows what came of it; what the tool has taken on is still on its way. */
const isUncertain = ({ call, happened }: Known): boolean => happened === 'unknown' && call.status !== 'accepted';

function nextSafe({ run, canResume, waitingCalls }: Standing, known: readonly Known[]): Step[] {
  if (!canResume) return ['read_only'];
  if (run === null || isEnded(run)) return ['start_run'];
  const calls = known.map(({ call }) => call);
  const steps: Step[] = [];
  if (run === 'interrupted' || run === 'suspended') steps.push('resume_run');
  const waits = (waitingFor: WaitingFor): boolean => calls.some((call) => call.waitingFor === waitingFor);
  // Nobody has proposed these, so nothing of them was sent.
  const proposed = new Set(calls.map(({ callId }) => callId));
  if (waitingCalls.some((callId) => !proposed.has(callId)) && run !== 'stopping') steps.push('propose_waiting_calls');
  if (waits('approval')) steps.push('wait_for_approval');
  if (waits('execution')) steps.push('wait_for_execution');
  if (waits('upstream')) steps.push('wait_for_result');
  if (known.some(isUncertain)) steps.push('ask_about_unknown_results');
  // A model is asked anew only when no call of its last answer is open, and not for a run that is being ended or paused.
  const isEnding = run === 'stopping' || run === 'suspending';
  if (!isEnding && waitingCalls.length === 0 && !calls.some(({ status }) => isOpen(status)))
    steps.push('new_model_call');
  return steps;
}

const isOpen = (status: ToolCallState['status']): boolean => !isTerminal(status);
