import { describe, expect, it } from '@jest/globals';
import { AGENT, callerWith, Installation, OPERATOR, TENANT } from '../../../test/builders/installation.js';
import { completion, failure } from '../../../test/builders/tool-call-examples.js';
import { PAUSE_REVISION } from '../../capabilities/pause-board.js';
import type { ToolCallCommand } from '../../domain/tool-call/tool-call.commands.js';
import type { Caller } from '../../identity/caller.js';
import { RetryToolCall } from './retry-tool-call.command.js';
import { RetryToolCallHandler } from './retry-tool-call.handler.js';

const TIMES = { acceptedAt: '2031-01-01T10:00:02.000Z', sentAt: null };
const FAILED: ToolCallCommand = { kind: 'fail', failure: failure({ basis: 'not_sent' }), ...TIMES };
const FINAL: ToolCallCommand = { kind: 'fail', failure: failure({ retryable: false }), ...TIMES };
const COMPLETED: ToolCallCommand = { kind: 'complete', completion: completion('direct'), ...TIMES };
const UNKNOWN: ToolCallCommand = { kind: 'mark_unknown', unknown: { cause: 'timeout' }, sentAt: null };
const HANDED_OFF: ToolCallCommand = {
  kind: 'hand_off',
  handoff: { reason: 'attempts_exhausted', evidenceRefs: [] },
  opened: { handoffId: 'hnd_1', packet: {} },
};
const found = (finding: 'happened' | 'not_happened', evidenceRefs = ['e-1']): ToolCallCommand => ({
  kind: 'resolve_handoff',
  finding: { handoffId: 'hnd_1', finding, evidenceRefs, resolvedBy: { sub: 'olga' } },
});

async function after(...commands: readonly ToolCallCommand[]): Promise<{ installation: Installation; id: string }> {
  const installation = new Installation();
  const id = await installation.propose();
  await installation.record(id, ...commands);
  return { installation, id };
}

const retry = ({ desk, commands, gate, judge }: Installation, id: string, caller: Caller = AGENT) =>
  new RetryToolCallHandler(desk, commands, gate, judge).execute(new RetryToolCall(caller, id, null, null));

const codeOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'accepted',
    (error: { code?: string }) => error.code ?? error,
  );

describe('retrying a call that is proven to have had no effect', () => {
  it('is the next attempt of the same call with the same key, judged anew', async () => {
    const { installation, id } = await after(FAILED);
    const { downstreamKey } = (await installation.call(id)).state;
    await retry(installation, id);
    expect(installation.store.lastTypes).toEqual([
      'control.accepted',
      'tool.call.retry_accepted',
      'policy.decided',
      'capability.authorized',
    ]);
    expect((await installation.call(id)).state).toMatchObject({ status: 'authorized', attempt: 2, downstreamKey });
    expect(installation.policy.asked.at(-1)).toMatchObject({ attempt: 2, approvals: {} });
    expect(installation.store.rows('open_intents')).toHaveLength(1);
  });

  it('asks people again: an approval authorises one attempt', async () => {
    const { installation, id } = await after(FAILED);
    installation.policy.ask();
    await retry(installation, id);
    expect((await installation.approvalOf(id)).state).toMatchObject({ status: 'pending', attempt: 2 });
  });

  it('may follow a finding that rests on evidence', async () => {
    const { installation, id } = await after(UNKNOWN, HANDED_OFF, found('not_happened'));
    await retry(installation, id);
    expect((await installation.call(id)).state).toMatchObject({ status: 'authorized', attempt: 2 });
  });

  it.each([
    ['completed', [COMPLETED], 'retry_not_allowed'],
    ['failed for good', [FINAL], 'retry_not_allowed'],
    ['unknown', [UNKNOWN], 'retry_forbidden_result_unknown'],
    ['handed off', [UNKNOWN, HANDED_OFF], 'retry_not_allowed'],
    ['found to have happened', [UNKNOWN, HANDED_OFF, found('happened')], 'retry_not_allowed'],
  ] as const)('is refused for a call that is %s', async (_, commands, code) => {
    const { installation, id } = await after(...commands);
    const { state } = await installation.call(id);
    expect(await codeOf(retry(installation, id))).toBe(code);
    expect((await installation.call(id)).state).toEqual(state);
  });

  it('is refused in a run that has ended', async () => {
    const { installation, id } = await after(FAILED);
    const [run] = installation.store.rows('runs');
    if (run !== undefined) installation.store.seed('runs', { ...run, status: 'completed' });
    expect(await codeOf(retry(installation, id))).toBe('run_already_ended');
  });

  it('is refused where the definition it was made with is gone', async () => {
    const { installation, id } = await after(FAILED);
    installation.gate.bound = () => undefined;
    expect(await codeOf(retry(installation, id))).toBe('capability_version_changed');
  });

  it('is refused while it is paused, and while its capability is held', async () => {
    const { installation, id } = await after(FAILED);
    const [row] = installation.store.rows('capabilities');
    if (row !== undefined) installation.store.seed('capabilities', { ...row, state: 'held' });
    expect(await codeOf(retry(installation, id))).toBe('capability_held');
    installation.store.seed('pauses', {
      tenant: TENANT,
      target_kind: 'tenant',
      target: TENANT,
      reason: null,
      set_event_id: 'evt_1',
      set_at: installation.clock.iso,
    });
    installation.store.seed('meta', { name: PAUSE_REVISION, value: '1' });
    await installation.pauses.reload();
    expect(await codeOf(retry(installation, id))).toBe('paused');
  });

  it('is refused while an identical call is open', async () => {
    const { installation, id } = await after(FAILED);
    await installation.propose();
    expect(await codeOf(retry(installation, id))).toBe('outstanding_identical_intent');
  });

  it('is for its own agent and for operators; for others the call does not exist', async () => {
    const { installation, id } = await after(FAILED);
    expect(await codeOf(retry(installation, id, callerWith({ actor: { sub: 'bob' } })))).toBe('tool_call_not_found');
    expect(await codeOf(retry(installation, id, OPERATOR))).toBe('accepted');
  });

  it('starts one attempt where two ask for it', async () => {
    const { installation, id } = await after(FAILED);
    const codes = await Promise.all([codeOf(retry(installation, id)), codeOf(retry(installation, id))]);
    expect(codes).toContain('accepted');
    expect((await installation.call(id)).state.attempt).toBe(2);
  });
});
