import { describe, expect, it } from '@jest/globals';
import { CATALOGUE, type EventType } from '../../domain/events/catalogue.js';
import { linkOf, missingLinks, type TimelineEntry } from './timeline.view.js';

const entry = (eventType: EventType, payload = {}): TimelineEntry =>
  ({ eventType, payload, link: linkOf(eventType) }) as TimelineEntry;

describe('the story of a run', () => {
  it.each<[EventType, string]>([
    ['run.started', 'goal'],
    ['reasoning.recorded', 'reasoning'],
    ['tool.call.proposed', 'proposal'],
    ['policy.decided', 'policy'],
    ['capability.authorized', 'policy'],
    ['approval.vote_recorded', 'approval'],
    ['tool.call.dispatching', 'attempt'],
    ['tool.call.accepted', 'attempt'],
    ['tool.call.completed', 'result'],
    ['tool.call.result_unknown', 'result'],
    ['reconciliation.attempted', 'reconciliation'],
    ['manual.handoff_resolved', 'reconciliation'],
    ['feedback.success_criteria_met', 'feedback'],
    ['artifact.created', 'artifact'],
    ['subagent.late_result', 'subagent'],
    ['stop.requested', 'control'],
    ['run.completed', 'control'],
  ])('tells with %s of the %s', (type, link) => {
    expect(linkOf(type)).toBe(link);
  });

  it('has a place for every event there is', () => {
    expect(Object.keys(CATALOGUE).filter((type) => linkOf(type as EventType) === undefined)).toEqual([]);
  });

  it('names what a call lacks, and takes neither a run without a goal nor an unanswered verification for an answer', () => {
    const story = (['run.started', 'tool.call.proposed', 'policy.decided', 'outcome.verification_opened'] as const).map(
      (type) => entry(type),
    );
    expect(missingLinks(story)).toEqual(['goal', 'reasoning', 'attempt', 'result', 'feedback']);
  });

  it('lacks nothing when every link is told', () => {
    const types = [
      'reasoning.recorded',
      'tool.call.proposed',
      'policy.decided',
      'tool.call.dispatching',
      'tool.call.completed',
      'feedback.success_criteria_met',
    ] as const;
    const goal = entry('run.started', { goalRef: 'goal-1' });
    expect(missingLinks([goal, ...types.map((type) => entry(type))])).toEqual([]);
  });
});
