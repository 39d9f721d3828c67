import type { ToolCallIn, ToolCallState } from './tool-call.state.js';

/** Whether what is said cannot be true beside how the call ended. */
export function contradicts(state: ToolCallState, says: 'happened' | 'failed'): boolean {
  switch (state.status) {
    case 'completed':
      return says === 'failed';
    case 'failed':
      return says === 'happened' && state.knownEffect !== 'full';
    case 'manual_handoff':
      return findingContradicts(state, says);
    case 'denied':
    case 'not_executed':
      return says === 'happened';
    case 'proposed':
    case 'authorized':
    case 'dispatching':
    case 'dispatched':
    case 'accepted':
    case 'result_unknown':
    case 'reconciling':
      return false;
  }
}

function findingContradicts({ resolution }: ToolCallIn<'manual_handoff'>, says: 'happened' | 'failed'): boolean {
  switch (resolution?.finding) {
    case 'happened':
      return says === 'failed';
    case 'not_happened':
      return says === 'happened';
    case 'partial':
      return true;
    case 'unknowable':
    case undefined:
      return false;
  }
}
