import type { EventPayload, DomainEvent } from '../events/catalogue.js';
import { decided, type Decided } from '../events/decided.js';
import { isIn, type EventIn } from '../events/domain-event.js';
import type { CheckpointState } from './checkpoint.state.js';

export type CheckpointEvent = EventIn<'checkpoint'>;

export type CheckpointCommand =
  | { readonly kind: 'create'; readonly creation: EventPayload<'checkpoint.created'> }
  | { readonly kind: 'decide_compatibility'; readonly decision: EventPayload<'checkpoint.compat_decided'> }
  | { readonly kind: 'archive'; readonly checkpointId: string };

/** Said once each: creating what is there, or archiving what is archived, records nothing. Throws for what was never created. */
export function decideCheckpoint(state: CheckpointState | null, command: CheckpointCommand): Decided<CheckpointEvent> {
  if (command.kind === 'create') {
    return state === null ? decided({ type: 'checkpoint.created', payload: command.creation }) : decided();
  }
  if (state === null) throw new Error('a checkpoint is created before anything else becomes of it');
  if (state.status === 'archived') return decided();
  switch (command.kind) {
    case 'decide_compatibility':
      return decided({ type: 'checkpoint.compat_decided', payload: command.decision });
    case 'archive':
      return decided({ type: 'checkpoint.archived', payload: { checkpointId: command.checkpointId } });
  }
}

/** Never judges; throws a plain `Error` for an event of another stream, or one before `checkpoint.created`. */
export function evolveCheckpoint(state: CheckpointState | null, event: DomainEvent): CheckpointState {
  if (!isIn('checkpoint', event)) throw new Error(`${event.type} is not an event of a checkpoint`);
  if (event.type === 'checkpoint.created') return { status: 'open', kind: event.payload.kind, verdict: null };
  if (state === null) throw new Error(`${event.type} cannot be the first event of a checkpoint`);
  switch (event.type) {
    case 'checkpoint.compat_decided':
      return { ...state, verdict: event.payload.verdict };
    case 'checkpoint.archived':
      return { ...state, status: 'archived' };
  }
}
