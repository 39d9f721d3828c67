import { describe, expect, it } from '@jest/globals';
import { callIn, decision } from '../../../test/builders/tool-call-examples.js';
import { evolveToolCall } from './tool-call.evolve.js';
import { heldReservations, readReservations } from './reservation.js';
import type { ToolCallState } from './tool-call.state.js';

const TAKEN = [{ key: 'limit/x/spend.day/{}', add: 7, max: 10 }];
const LESS = [{ key: 'limit/x/spend.day/{}', add: 3, max: 10 }];

const taking = (state: ToolCallState, more: object = {}): ToolCallState =>
  Object.assign({}, state, { reserved: TAKEN }, more) as ToolCallState;

describe('what a call counts for', () => {
  it.each([
    'proposed',
    'authorized',
    'dispatching',
    'dispatched',
    'accepted',
    'result_unknown',
    'reconciling',
    'completed',
    'handoff_open',
  ] as const)('is all that it took while it is %s', (status) => {
    expect(heldReservations(taking(callIn(status)))).toEqual(TAKEN);
  });

  it.each(['denied', 'not_executed'] as const)('is nothing once it is %s', (status) => {
    expect(heldReservations(taking(callIn(status), { contradicted: false }))).toEqual([]);
  });

  it.each([
    ['none', []],
    ['partial', TAKEN],
    ['full', TAKEN],
  ])('after a failure with effect %s is %p', (knownEffect, held) => {
    const failed = { status: 'failed', code: 'x', knownEffect, retryable: true, contradicted: false };
    expect(heldReservations(taking(callIn('completed'), failed))).toEqual(held);
  });

  it.each([
    ['happened', TAKEN],
    ['not_happened', []],
    ['partial', TAKEN],
    ['unknowable', TAKEN],
  ])('of a handoff in which a person found %s is %p', (finding, held) => {
    const found = { resolution: { finding, evidenceRefs: ['x'] }, contradicted: false };
    expect(heldReservations(taking(callIn('handoff_open'), found))).toEqual(held);
  });

  it('is all of it again when evidence says that it happened after all', () => {
    const failed = { status: 'failed', code: 'x', knownEffect: 'none', retryable: true, contradicted: true };
    expect(heldReservations(taking(callIn('completed'), failed))).toEqual(TAKEN);
  });

  it('is nothing where nothing limits it', () => {
    expect(heldReservations(callIn('completed'))).toEqual([]);
  });
});

describe('the decisions about a call', () => {
  const decided = (state: ToolCallState, phase: 'propose' | 'dispatch' | 'retry', reservations?: typeof TAKEN) =>
    evolveToolCall(state, {
      type: 'policy.decided',
      payload: { ...decision(phase), ...(reservations === undefined ? {} : { reservations }) },
    }).reserved;

  it('say what it takes', () => {
    expect(decided(callIn('proposed'), 'propose', TAKEN)).toEqual(TAKEN);
  });

  it('about a proposal replace what was taken before, by nothing too', () => {
    expect(decided(taking(callIn('proposed')), 'propose', LESS)).toEqual(LESS);
    expect(decided(taking(callIn('proposed')), 'propose')).toBeNull();
    expect(decided(taking(callIn('proposed')), 'retry')).toBeNull();
  });

  it('at dispatch leave it unless they say otherwise', () => {
    const authorized = taking(callIn('authorized'));
    expect(decided(authorized, 'dispatch')).toBe(authorized.reserved);
    expect(decided(authorized, 'dispatch', LESS)).toEqual(LESS);
  });

  it('that limit nothing leave the state as it is', () => {
    const state = callIn('proposed');
    expect(evolveToolCall(state, { type: 'policy.decided', payload: decision('propose') })).toBe(state);
  });

  it('of an earlier attempt are over with a retry', () => {
    const event = {
      type: 'tool.call.retry_accepted',
      payload: { attempt: 2, previousStatus: 'not_executed' },
    } as const;
    expect(evolveToolCall(taking(callIn('not_executed')), event).reserved).toBeNull();
  });
});

describe('recorded reservations', () => {
  it('are a counter, what is added and the maximum, and nothing beside', () => {
    expect(readReservations([{ key: 'k', add: 1, max: 2, note: 'x' }])).toEqual([{ key: 'k', add: 1, max: 2 }]);
    expect([readReservations(null), readReservations(undefined), readReservations([])]).toEqual([null, null, null]);
  });

  it.each([
    ['no object', ['x']],
    ['no key', [{ add: 1, max: 2 }]],
    ['a fraction', [{ key: 'k', add: 0.5, max: 2 }]],
  ])('of another form (%s) stop the work', (_, list) => {
    expect(() => readReservations(list)).toThrow('a reservation is');
  });
});
