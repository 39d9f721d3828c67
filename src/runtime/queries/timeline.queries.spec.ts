import { describe, expect, it } from '@jest/globals';
import { CallInUnit } from '../../storage/units/call-in-unit.js';
import { callerWith, Installation, refundCapability, TENANT } from '../../../test/builders/installation.js';
import { openRun, reasonedRun } from '../../../test/builders/run-chain-examples.js';
import { GetTimeline, GetTimelineHandler, type Timeline, type TimelineRequest } from './timeline.queries.js';

const AUDITOR = callerWith({ actor: { sub: 'ada' }, roles: ['auditor'], isAgent: false });

const ask = ({ store }: Installation, request: Partial<TimelineRequest>, caller = AUDITOR): Promise<Timeline> =>
  new GetTimelineHandler(store).execute(
    new GetTimeline(caller, { runId: 'run_0', toolCallId: null, after: -1, limit: 100, ...request }),
  );

async function pages(installation: Installation, runId: string, limit: number): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after: number | null = -1; after !== null;) {
    const page: Timeline = await ask(installation, { runId, after, limit });
    ids.push(...page.items.map(({ eventId }) => eventId));
    after = page.nextAfter;
  }
  return ids;
}

describe('the timeline of a run', () => {
  it.each([
    ['few', 4],
    ['many', 201],
  ])('is whole and in order however it is paged, with %s calls', async (_how, counted) => {
    const installation = new Installation();
    installation.policy.deny('no');
    const [runId, other] = [await openRun(installation), await openRun(installation, 'another')];
    for (const [amountMinor, place] of [runId, other, runId, runId, other, runId].entries()) {
      await installation.propose({ runId: place, arguments: { orderId: 'o', amountMinor: amountMinor + 1 } });
    }
    Object.assign(installation.store.read, { callCountUpTo: async () => counted });
    const expected = installation.store.events.filter(({ envelope }) => envelope.runId === runId);
    expect(expected.length).toBeGreaterThan(10);
    for (const limit of [1, 7, 100]) {
      expect(await pages(installation, runId, limit)).toEqual(expected.map(({ envelope }) => envelope.eventId));
    }
  });

  it('tells what was proposed with what is secret masked', async () => {
    const installation = new Installation({ capabilities: [refundCapability({ redact: ['/cardToken'] })] });
    const { runId } = await reasonedRun(installation);
    await installation.propose({ runId, arguments: { orderId: 'o-1', amountMinor: 1, cardToken: 'tok_secret' } });
    const { items } = await ask(installation, { runId });
    expect(items.map(({ link }) => link).slice(0, 3)).toEqual(['goal', 'reasoning', 'proposal']);
    expect(items[2]?.payload['arguments']).toMatchObject({
      orderId: 'o-1',
      cardToken: expect.stringMatching(/^\[redacted:/),
    });
    expect(JSON.stringify(items)).not.toContain('tok_secret');
  });

  it('tells with the story of a call what people commanded about it', async () => {
    const installation = new Installation();
    const { desk } = installation;
    const runId = await openRun(installation);
    installation.policy.ask();
    const toolCallId = await installation.propose({ runId, arguments: { orderId: 'o-1', amountMinor: 1 } });
    const call = await installation.call(toolCallId);
    const now = desk.now();
    const draft = desk.begin({
      tenant: TENANT,
      lane: 'govern',
      actor: { sub: 'otto' },
      correlationId: toolCallId,
      occurredAt: now,
      commandId: 'cancel-7',
      causationId: null,
      causeKind: 'external',
    });
    const payload = {
      type: 'cancel',
      target: { toolCallId },
      issuer: { sub: 'otto' },
      receivedAt: now,
      requestDigest: 'sha256:x',
    };
    draft.append({ kind: 'command', id: `${TENANT}/cancel-7` }, 0, [{ type: 'control.accepted', payload }], {});
    new CallInUnit(draft, call).do({ kind: 'close', closing: { reason: 'cancelled' } }, {}, 'control-plane');
    await desk.commit(draft);
    const { items } = await ask(installation, { runId, toolCallId });
    expect(items.map(({ eventType, link }) => [eventType, link]).slice(-2)).toEqual([
      ['control.accepted', 'control'],
      ['tool.call.not_executed', 'result'],
    ]);
    expect(items.at(-2)?.actor).toEqual({ sub: 'otto' });
  });

  it('is for no other tenant', async () => {
    const installation = new Installation();
    const runId = await openRun(installation);
    await expect(ask(installation, { runId }, { ...AUDITOR, tenant: 'umbrella' })).rejects.toMatchObject({
      code: 'run_not_found',
    });
  });
});
