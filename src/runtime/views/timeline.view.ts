import type { EventType } from '../../domain/events/catalogue.js';
import type { CommittedEvent } from '../../domain/events/envelope.js';
import { eventView, type EventView } from '../../domain/events/event-view.js';

/** What an event tells in the story of a run: why, what, by whose leave, and what came of it. */
export type TimelineLink =
  | 'goal'
  | 'reasoning'
  | 'proposal'
  | 'policy'
  | 'approval'
  | 'lease'
  | 'attempt'
  | 'result'
  | 'reconciliation'
  | 'feedback'
  | 'artifact'
  | 'subagent'
  | 'control';

/** One event of a run with everything it joins to. */
export interface TimelineEntry extends EventView {
  readonly link: TimelineLink;
  readonly turnId: string | null;
  readonly reasoningObjectId: string | null;
  readonly skillId: string | null;
  readonly capabilityId: string | null;
  readonly policyDecisionId: string | null;
  readonly artifactId: string | null;
  readonly feedbackId: string | null;
}

/** By the beginning of the event's type; the first that fits counts. */
const LINKS: readonly (readonly [string, TimelineLink])[] = [
  ['run.started', 'goal'],
  ['reasoning.', 'reasoning'],
  ['tool.call.proposed', 'proposal'],
  ['policy.', 'policy'],
  ['capability.', 'policy'],
  ['approval.', 'approval'],
  ['plan_review.', 'approval'],
  ['lease.', 'lease'],
  ['tool.call.dispatch', 'attempt'],
  ['tool.call.accepted', 'attempt'],
  ['tool.call.retry_accepted', 'attempt'],
  ['tool.call.manual_handoff', 'reconciliation'],
  ['reconciliation.', 'reconciliation'],
  ['manual.', 'reconciliation'],
  ['tool.call.', 'result'],
  ['outcome.', 'feedback'],
  ['feedback.', 'feedback'],
  ['artifact.', 'artifact'],
  ['subagent.', 'subagent'],
];

export function linkOf(type: EventType): TimelineLink {
  return LINKS.find(([prefix]) => type.startsWith(prefix))?.[1] ?? 'control';
}

export function timelineEntry(event: CommittedEvent): TimelineEntry {
  const { envelope } = event;
  return {
    ...eventView(event),
    link: linkOf(envelope.eventType),
    turnId: envelope.turnId ?? null,
    reasoningObjectId: envelope.reasoningObjectId ?? null,
    skillId: envelope.skillId ?? null,
    capabilityId: envelope.capabilityId ?? null,
    policyDecisionId: envelope.policyDecisionId ?? null,
    artifactId: envelope.artifactId ?? null,
    feedbackId: envelope.feedbackId ?? null,
  };
}

/** The links that the story of a whole call has, in order. An approval and a lease exist only where they were asked for. */
const WHOLE: readonly TimelineLink[] = ['goal', 'reasoning', 'proposal', 'policy', 'attempt', 'result', 'feedback'];

/** K-22: what the story of one call lacks, so that nobody takes a gap for an answer. */
export function missingLinks(entries: readonly TimelineEntry[]): readonly TimelineLink[] {
  const told = new Set(entries.filter((entry) => !isSilent(entry)).map(({ link }) => link));
  return WHOLE.filter((link) => !told.has(link));
}

/** A run without a goal, and a verification that nobody has answered yet, tell nothing. */
function isSilent({ eventType, payload }: TimelineEntry): boolean {
  if (eventType === 'run.started') return typeof payload['goalRef'] !== 'string';
  return eventType === 'outcome.verification_opened';
}
