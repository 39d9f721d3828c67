import { describe, expect, it } from '@jest/globals';
import { typesOf } from './type-filter.js';

describe('the types a sink is told of', () => {
  it('are all of them for a file', () => {
    expect(typesOf({ kind: 'file', types: null })).toBeNull();
  });

  it('are decisions, ends and what needs people for a webhook', () => {
    const types = typesOf({ kind: 'webhook', types: null });
    for (const type of ['approval.required', 'tool.call.completed', 'tool.call.result_unknown', 'run.failed'])
      expect(types).toContain(type);
    for (const type of ['feedback.success_criteria_met', 'feedback.inconclusive', 'feedback.contradiction_recorded'])
      expect(types).toContain(type);
    for (const type of [
      'outcome.verification_opened',
      'feedback.received',
      'tool.call.proposed',
      'tool.call.dispatching',
      'policy.decided',
      'run.started',
    ])
      expect(types).not.toContain(type);
  });

  it('are those that are named, or begin as named', () => {
    const types = typesOf({ kind: 'file', types: ['approval.*', 'policy.decided'] });
    expect(types).toContain('approval.vote_recorded');
    expect(types).toContain('policy.decided');
    expect(types).not.toContain('policy.activated');
    expect(types).not.toContain('tool.call.completed');
  });
});
