import { describe, expect, it } from '@jest/globals';
import { callIn } from '../../../test/builders/tool-call-examples.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import { handoffWrites, intentIsOpen, intentWrites, openIntent, workWrites, type CallScope } from './call-rows.js';

const SCOPE: CallScope = {
  tenant: 'acme',
  toolCallId: 'call_1',
  principal: '["alice","agent-7"]',
  now: '2031-01-01T10:00:05.000Z',
};

const work = (before: ToolCallState | null, state: ToolCallState) => workWrites(SCOPE, before, state, {});

describe('the work row of a call', () => {
  it('goes where there was one, and is not looked for where there was none', () => {
    const gone = [{ op: 'delete', table: 'work', where: { tool_call_id: 'call_1' } }];
    expect(work(callIn('dispatched'), callIn('completed'))).toEqual(gone);
    expect(work(callIn('reconciling'), callIn('handoff_open'))).toEqual(gone);
    expect(work(null, callIn('proposed'))).toEqual([]);
    expect(work(callIn('proposed'), callIn('denied'))).toEqual([]);
    expect(work(callIn('handoff_open'), callIn('handoff_not_happened'))).toEqual([]);
  });

  it.each([
    ['authorized', 'execute'],
    ['dispatching', 'observe'],
    ['dispatched', 'observe'],
    ['accepted', 'observe'],
    ['result_unknown', 'reconcile'],
    ['reconciling', 'reconcile'],
  ] as const)('of one that is %s is to %s it, claimed by its owner only on the wire', (situation, kind) => {
    const [write] = work(null, callIn(situation));
    const claim = kind === 'observe' ? { owner: 'ins_1', owner_epoch: 2 } : { owner: null, owner_epoch: null };
    expect(write).toMatchObject({ op: 'put', row: { kind, ...claim } });
  });
});

describe('the handoff row of a call', () => {
  it('takes one finding: the second is refused by the row itself', () => {
    const payload = {
      handoffId: 'hnd_1',
      finding: 'happened',
      evidenceRefs: ['statement-9'],
      resolvedBy: { sub: 'olga' },
    } as const;
    const writes = handoffWrites(SCOPE, [{ event: { type: 'manual.handoff_resolved', payload }, eventId: 'evt_9' }]);
    expect(writes).toEqual([
      {
        op: 'set',
        table: 'handoffs',
        where: { handoff_id: 'hnd_1', finding: null },
        set: { finding: 'happened', resolved_event_id: 'evt_9', resolved_at: SCOPE.now },
        guard: 'handoff',
      },
    ]);
  });
});

describe('the intent of a call', () => {
  it('is closed for this call alone: an identical one that was wanted beside it stays open', () => {
    const state = callIn('completed');
    const key = { tenant: 'acme', principal: SCOPE.principal, capability: state.capability };
    const intent = { ...key, intent_digest: state.intentDigest, tool_call_id: 'call_1' };
    expect(intentWrites(SCOPE, callIn('dispatched'), state)).toEqual([
      { op: 'delete', table: 'open_intents', where: intent },
    ]);
    expect(openIntent(SCOPE, state, 3)).toMatchObject({ op: 'insert', row: { ...intent, ordinal: 3 } });
  });

  it('opens again with a retry, and is left alone while nothing ends', () => {
    expect(intentWrites(SCOPE, callIn('failed_retryable'), callIn('authorized'))).toMatchObject([
      { op: 'insert', table: 'open_intents', takenGuard: 'open_intent', row: { ordinal: 0 } },
    ]);
    expect(intentWrites(SCOPE, callIn('dispatching'), callIn('result_unknown'))).toEqual([]);
    expect(intentWrites(SCOPE, callIn('result_unknown'), callIn('handoff_open'))).toEqual([]);
    expect(intentWrites(SCOPE, callIn('failed_retryable'), callIn('failed_for_good'))).toEqual([]);
  });

  it('is open exactly while a second effect could still come of it', () => {
    const open = (['proposed', 'authorized', 'dispatching', 'dispatched', 'accepted'] as const).map(callIn);
    const unsure = (['result_unknown', 'reconciling', 'handoff_open'] as const).map(callIn);
    const over = (['completed', 'failed_retryable', 'failed_for_good', 'denied', 'not_executed'] as const).map(callIn);
    const found = (['handoff_not_happened', 'handoff_other_finding'] as const).map(callIn);
    expect([...open, ...unsure].map(intentIsOpen)).toEqual(Array(8).fill(true));
    expect([...over, ...found].map(intentIsOpen)).toEqual(Array(7).fill(false));
  });
});
