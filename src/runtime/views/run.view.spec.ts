import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { runIn } from '../../../test/builders/run-examples.js';
import { callIn } from '../../../test/builders/tool-call-examples.js';
import { decideRun } from '../../domain/run/run.decide.js';
import { RUN_STATUSES } from '../../domain/run/run.state.js';
import { TOOL_CALL_STATUSES, type ToolCallState, type ToolCallStatus } from '../../domain/tool-call/tool-call.state.js';
import { deriveRunPage, type RunFacts } from './run.view.js';

const facts = (more: Partial<RunFacts> = {}): RunFacts => ({
  runId: 'run_1',
  state: { ...runIn('running'), implicit: true },
  openCalls: [],
  pendingApprovals: [],
  subagents: [],
  artifacts: [],
  ...more,
});

type Shown = Exclude<ToolCallStatus, 'failed' | 'manual_handoff'>;
const SHOWN = TOOL_CALL_STATUSES.filter(
  (status): status is Shown => status !== 'failed' && status !== 'manual_handoff',
);

const call = (status: Shown, more: object = {}) => ({
  toolCallId: 'call_1',
  state: { ...callIn(status), ...more } as ToolCallState,
});

const asked = {
  approvalId: 'apr_1',
  toolCallId: 'call_1',
  capability: 'refund.create',
  risk: 'high',
  decideBy: '2031-01-01T11:00:00.000Z',
  link: '/v1/approvals/apr_1',
};

describe('what a page about a run shows', () => {
  it('is nothing but a function of what is on record', () => {
    const statuses = fc.constantFrom(...RUN_STATUSES);
    const open = fc.array(fc.constantFrom(...SHOWN), { maxLength: 4 });
    fc.assert(
      fc.property(statuses, open, fc.boolean(), (status, calls, implicit) => {
        const given = facts({
          state: { ...runIn(status), implicit },
          openCalls: calls.map((word, index) => ({ ...call(word), toolCallId: `call_${index}` })),
        });
        expect(deriveRunPage(structuredClone(given))).toEqual(deriveRunPage(given));
      }),
    );
  });

  it.each(RUN_STATUSES)('offers in a run that is %s exactly the commands that would be admitted', (status) => {
    const run = runIn(status);
    const page = deriveRunPage(facts({ state: run }));
    const stop = { kind: 'request_stop', request: { scope: [], modelActive: true, requestedBy: 'olga' } } as const;
    expect(page.canStop).toBe(decideRun(run, stop).ok);
    expect(page.canResume).toBe(decideRun(run, { kind: 'resume', resumption: { ownerEpoch: 2 } }).ok);
  });

  it('has a banner only for a question that is on record', () => {
    expect(deriveRunPage(facts({ openCalls: [call('proposed')] })).approvalBanner).toBeNull();
    expect(deriveRunPage(facts({ pendingApprovals: [asked] })).approvalBanner).toEqual({
      pending: 1,
      approvals: [asked],
    });
  });

  it.each<[string, Partial<RunFacts>, boolean]>([
    ['nothing is open', {}, false],
    ['only people are awaited', { openCalls: [call('proposed')] }, false],
    ['a call is on the wire', { openCalls: [call('dispatched')] }, true],
    ['a result is being looked for', { openCalls: [call('reconciling')] }, true],
    ['a helper works', { subagents: [{ subagentId: 'sub_1', state: 'running' }] }, true],
    ['it is stopping', { state: runIn('stopping') }, true],
    ['it has ended', { state: runIn('completed'), subagents: [{ subagentId: 'sub_1', state: 'running' }] }, false],
  ])('is busy or not when %s', (_when, given, busy) => {
    expect(deriveRunPage(facts(given)).isBusy).toBe(busy);
  });

  it.each<[Shown, string]>([
    ['proposed', 'awaiting approval'],
    ['authorized', 'waiting to be sent'],
    ['accepted', 'in progress'],
    ['result_unknown', 'result unknown'],
  ])('puts on a call that is %s the badge "%s"', (status, badge) => {
    expect(deriveRunPage(facts({ openCalls: [call(status)] })).toolBadges[0]?.badge).toBe(badge);
  });

  it('says of a call that is being cancelled that it is', () => {
    const page = deriveRunPage(facts({ openCalls: [call('dispatched', { cancellationRequested: true })] }));
    expect(page.toolBadges[0]?.badge).toBe('cancelling');
  });

  it('says of a call on the wire that nobody can stop that it cannot be undone', () => {
    const page = deriveRunPage(facts({ openCalls: [call('dispatched', { irreversible: 'not_supported' })] }));
    expect(page.toolBadges[0]?.badge).toBe('cannot be undone');
  });
});
