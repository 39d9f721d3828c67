import type { Refusal } from '../errors/error-codes.js';
import { decided, type Decided } from '../events/decided.js';
import type { EventIn } from '../events/domain-event.js';
import { workRefusal } from './run.admission.js';
import type { RunCommand, RunCommandOf } from './run.commands.js';
import { isEnded, type RunState } from './run.state.js';

const CHAIN_KINDS = ['record_reasoning', 'record_artifact', 'spawn_subagent', 'end_subagent'] as const;
export type ChainCommand = RunCommandOf<(typeof CHAIN_KINDS)[number]>;

export function isChainCommand(command: RunCommand): command is ChainCommand {
  return CHAIN_KINDS.some((kind) => kind === command.kind);
}

/**
 * What a harness states about its run. It changes no status: only a run that may start work takes new reasons and new
 * helpers, what came of earlier work is taken until the end, and a helper's late end even after it (R19, K-45). The
 * caller has looked at whether the run is over: `afterEnd` is the refusal then.
 */
export function decideChain(state: RunState, command: ChainCommand, afterEnd: Refusal): Decided<EventIn<'run'>> {
  switch (command.kind) {
    case 'record_reasoning':
      return refusalOf(state, afterEnd) ?? decided({ type: 'reasoning.recorded', payload: command.reasoning });
    case 'spawn_subagent':
      return refusalOf(state, afterEnd) ?? decided({ type: 'subagent.spawned', payload: command.spawning });
    case 'record_artifact':
      if (isEnded(state.status)) return afterEnd;
      return decided({ type: 'artifact.created', payload: command.artifact });
    case 'end_subagent':
      if (isEnded(state.status)) return decided({ type: 'subagent.late_result', payload: command.end });
      return command.succeeded
        ? decided({ type: 'subagent.completed', payload: command.end })
        : decided({ type: 'subagent.failed', payload: command.end });
  }
}

function refusalOf(state: RunState, afterEnd: Refusal): Refusal | null {
  return isEnded(state.status) ? afterEnd : workRefusal(state.status);
}
