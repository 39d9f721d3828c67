import { describe, expect, it } from '@jest/globals';
import { Installation, refundCapability } from '../../../test/builders/installation.js';
import { completion, failure } from '../../../test/builders/tool-call-examples.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import { ApprovalViews } from './approval.view.js';
import { ToolCallViews } from './tool-call.view.js';

const TIMES = { acceptedAt: '2031-01-01T10:00:02.000Z', sentAt: null };
const UNKNOWN: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null };
const HAND_OFF: ToolCallCommand = {
  kind: 'hand_off',
  handoff: { reason: 'attempts_exhausted', evidenceRefs: [] },
  opened: { handoffId: 'hnd_1', packet: {} },
};

async function viewAfter(...commands: readonly ToolCallCommand[]) {
  const installation = new Installation({ capabilities: [refundCapability({ redact: ['/note'] })] });
  const id = await installation.propose({ arguments: { orderId: 'o-1', amountMinor: 5, note: 'hunter2' } });
  await installation.record(id, ...commands);
  const view = await new ToolCallViews(installation.store).of(await installation.call(id));
  return { installation, id, view };
}

describe('a call as every surface shows it', () => {
  it('masks what is redacted and keeps the digest of what will be sent', async () => {
    const { view, installation, id } = await viewAfter();
    expect(view.arguments).toEqual({
      orderId: 'o-1',
      amountMinor: 5,
      currency: 'EUR',
      note: expect.stringMatching(/^\[redacted:[0-9a-f]{8}\]$/),
    });
    expect(JSON.stringify(view)).not.toContain('hunter2');
    expect(view.argsDigest).toBe((await installation.call(id)).state.argsDigest);
  });

  it('names its run, its key, its decision and the position of its newest event', async () => {
    const { view, installation, id } = await viewAfter();
    expect(view).toMatchObject({
      toolCallId: id,
      status: 'dispatching',
      waitingFor: 'execution',
      idempotencyKey: 'key-1',
      decision: { outcome: 'allow', policyRevision: 'sha256:policy-1', determining: ['a-policy'] },
      position: installation.store.events.length - 1,
      links: { self: `/v1/tool-calls/${id}`, run: `/v1/runs/${view.runId}` },
      error: null,
      result: null,
      outcome: { status: 'not_observed', evidenceRefs: [] },
    });
  });

  it('says by which reference the tool can be asked, also while nobody knows the result', async () => {
    const acceptance = { acceptedAt: TIMES.acceptedAt, basis: 'ack', externalRequestId: 'job-1' } as const;
    const { view } = await viewAfter({ kind: 'record_acceptance', sentAt: null, acceptance }, UNKNOWN);
    expect(view).toMatchObject({ status: 'result_unknown', externalRequestId: 'job-1' });
    expect((await viewAfter()).view.externalRequestId).toBeNull();
  });

  it('has the result of a completed call and where it is kept', async () => {
    const { view, installation } = await viewAfter({ kind: 'complete', completion: completion('direct'), ...TIMES });
    expect(view).toMatchObject({
      status: 'completed',
      result: { refundId: 'r-1' },
      resultTruncated: false,
      resultRef: installation.store.events.at(-1)?.envelope.eventId,
      error: null,
    });
  });

  it.each([
    [
      'failed',
      [{ kind: 'fail', failure: failure({ message: 'no such order' }), ...TIMES }],
      { code: 'rejected', effect: 'none', message: 'no such order' },
      false,
    ],
    [
      'failed',
      [{ kind: 'fail', failure: failure(), ...TIMES }],
      { code: 'rejected', effect: 'none', message: 'rejected' },
      false,
    ],
    ['result_unknown', [UNKNOWN], { code: 'timeout', effect: 'unknown' }, true],
    ['manual_handoff', [UNKNOWN, HAND_OFF], { code: 'attempts_exhausted', effect: 'unknown' }, true],
  ] as const)(
    'that is %s says so without claiming more than is known',
    async (status, commands, error, mayHaveHappened) => {
      const { view } = await viewAfter(...(commands as readonly ToolCallCommand[]));
      expect(view).toMatchObject({ status, error, mayHaveHappened, result: null });
    },
  );

  it('shows the evidence of a finding, which its row does not have', async () => {
    const { view } = await viewAfter(UNKNOWN, HAND_OFF, {
      kind: 'resolve_handoff',
      finding: { handoffId: 'hnd_1', finding: 'not_happened', evidenceRefs: ['e-1'], resolvedBy: { sub: 'olga' } },
    });
    expect(view).toMatchObject({
      status: 'manual_handoff',
      resolution: { finding: 'not_happened', evidenceRefs: ['e-1'] },
      retryAllowed: true,
    });
  });

  it('that is denied says why', async () => {
    const installation = new Installation();
    installation.policy.deny('not on sundays', 'nor at night');
    const id = await installation.propose();
    expect(await new ToolCallViews(installation.store).of(await installation.call(id))).toMatchObject({
      status: 'denied',
      error: { code: 'denied', effect: 'none', message: 'not on sundays; nor at night' },
      mayHaveHappened: false,
    });
  });

  it('that waits for people shows how far they are', async () => {
    const installation = new Installation();
    installation.policy.ask({ rules: [{ group: 'finance', count: 2, notRequester: true }] });
    const id = await installation.propose();
    const view = await new ToolCallViews(installation.store).of(await installation.call(id));
    const { approval_id: approvalId } = (await installation.approvalOf(id)).row;
    expect(view).toMatchObject({
      status: 'proposed',
      waitingFor: 'approval',
      approval: { approvalId, status: 'pending', needed: [{ group: 'finance', count: 2, have: 0 }] },
      links: { approval: `/v1/approvals/${approvalId}` },
    });
  });
});

describe('an approval as people see it', () => {
  it('is exactly what was kept when they were asked', async () => {
    const installation = new Installation({ capabilities: [refundCapability({ redact: ['/note'] })] });
    installation.policy.ask();
    const id = await installation.propose({
      arguments: { orderId: 'o\u200B1', amountMinor: 5, note: 'hunter2' },
      reason: 'be\u202Eloved',
    });
    const approval = await installation.approvalOf(id);
    const view = await new ApprovalViews(installation.store).of(approval);
    const kept = installation.store.events.at(-1)?.payload;
    expect(view).toMatchObject({
      title: 'Refund an order',
      digest: approval.state.consentDigest,
      shownDigest: kept?.['shownDigest'],
      arguments: { orderId: 'o\\u{200B}1', note: expect.stringContaining('[redacted:') },
      agentReason: 'be\\u{202E}loved',
      requester: { sub: 'alice', act: 'agent-7' },
      needed: [{ group: 'finance', count: 1, have: 0, notRequester: true }],
      votes: [],
      argumentsEmpty: false,
      version: 1,
    });
    expect(JSON.stringify(view)).not.toContain('hunter2');
  });
});
