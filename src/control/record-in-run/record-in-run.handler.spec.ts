import { describe, expect, it } from '@jest/globals';
import { AGENT, callerWith, Installation } from '../../../test/builders/installation.js';
import {
  artifact,
  openRun,
  reasonedRun,
  reasoning,
  state,
  subagent,
  turn,
} from '../../../test/builders/run-chain-examples.js';
import { reasoned } from '../../../test/builders/run-examples.js';
import type { Caller } from '../../identity/caller.js';
import type { Statement } from './record-in-run.command.js';

const refusal = async (answer: Promise<unknown>): Promise<unknown> => {
  try {
    return await answer;
  } catch (error) {
    return (error as { code?: unknown }).code;
  }
};

const OTHER: Caller = callerWith({ actor: { sub: 'alice', act: { sub: 'agent-8' } } });

describe('what a harness states about its run', () => {
  it('joins a judgement to its turn and begins an intent', async () => {
    const installation = new Installation();
    const judged = await reasonedRun(installation);
    expect(installation.store.events.at(-1)?.envelope).toMatchObject({
      eventType: 'reasoning.recorded',
      streamKind: 'run',
      streamId: judged.runId,
      producer: 'harness',
      turnId: judged.turnId,
      reasoningObjectId: judged.objectId,
      correlationId: judged.objectId,
    });
    expect(installation.store.rows('runs')[0]?.version).toBe(2);
  });

  it('of a turn is a name and no event: its story belongs to the log of a session', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    const { length } = installation.store.events;
    const first = await state(installation, runId, turn());
    expect(await state(installation, runId, turn())).toEqual({ ...first, replayed: true });
    expect(installation.store.events).toHaveLength(length);
  });

  it.each<[string, (turnId: string) => Statement, (turnId: string) => Statement]>([
    [
      'a judgement',
      (turnId) => reasoning(turnId),
      (turnId) => reasoning(turnId, { reasoning: reasoned({ conclusion: 'other' }) }),
    ],
    ['an artefact', () => artifact(), () => artifact({ artifact: { ...artifact().artifact, digest: 'sha256:2' } })],
    ['a sub-agent', () => subagent(), () => subagent({ spawning: { childSessionId: 'ses_3', goalRef: 'goal-1' } })],
  ])('records %s once, and its client id never means anything else', async (_what, same, other) => {
    const installation = new Installation();
    const runId = await openRun(installation);
    const { objectId: turnId } = await state(installation, runId, turn());
    const [first, again] = await Promise.all([
      state(installation, runId, same(turnId)),
      state(installation, runId, same(turnId)),
    ]);
    expect(again.objectId).toBe(first.objectId);
    expect(first.replayed).not.toBe(again.replayed);
    const { length } = installation.store.events;
    expect(await refusal(state(installation, runId, other(turnId)))).toBe('duplicate_id');
    expect(installation.store.events).toHaveLength(length);
  });

  it('keeps all that is stated at the same time', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    const stated = [artifact(), artifact({ clientId: 'report-2' }), subagent()];
    await Promise.all(stated.map((statement) => state(installation, runId, statement)));
    expect(installation.store.rows('runs')[0]?.version).toBe(4);
    expect(installation.store.rows('run_objects')).toHaveLength(3);
  });

  it('joins an artefact to the judgement and the call that made it, in their intent', async () => {
    const installation = new Installation();
    const judged = await reasonedRun(installation);
    const toolCallId = await installation.propose({ runId: judged.runId, reasoningObjectId: judged.objectId });
    const made = await state(installation, judged.runId, artifact({ reasoningObjectId: judged.objectId, toolCallId }));
    expect(installation.store.events.at(-1)?.envelope).toMatchObject({
      eventType: 'artifact.created',
      artifactId: made.objectId,
      reasoningObjectId: judged.objectId,
      toolCallId,
      correlationId: judged.objectId,
    });
  });

  it('refers to nothing that its run does not have', async () => {
    const installation = new Installation();
    const judged = await reasonedRun(installation);
    const elsewhere = await openRun(installation, 'another');
    const toolCallId = await installation.propose({ runId: judged.runId });
    for (const statement of [
      artifact({ reasoningObjectId: judged.objectId }),
      artifact({ toolCallId }),
      subagent({ toolCallId: 'call_0' }),
      artifact({ reasoningObjectId: judged.turnId }),
    ]) {
      expect(await refusal(state(installation, elsewhere, statement))).toBe('dangling_reference');
    }
  });

  it('is about a run of its own principal: others do not exist', async () => {
    const installation = new Installation();
    const judged = await reasonedRun(installation);
    for (const caller of [OTHER, { ...AGENT, tenant: 'umbrella' }]) {
      expect(await refusal(state(installation, judged.runId, artifact(), caller))).toBe('run_not_found');
      const answer = await refusal(state(installation, null, reasoning(judged.turnId ?? ''), caller));
      expect(['run_not_found', 'turn_not_found']).toContain(answer);
    }
    expect(await refusal(state(installation, null, reasoning('trn_0')))).toBe('turn_not_found');
  });
});
