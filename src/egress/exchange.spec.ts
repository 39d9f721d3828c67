import { describe, expect, it, jest } from '@jest/globals';
import type { Dispatcher } from 'undici';
import type { Connection } from './connection.js';
import { Exchange } from './exchange.js';
import type { OutboundRequest, OutboundResult } from './outbound-request.js';

const REQUEST: OutboundRequest = {
  method: 'POST',
  url: 'http://upstream.test/',
  headers: {},
  allowAddresses: [],
  sendBeforeMonotonicMs: 100,
  deadlineMonotonicMs: 10_000,
  responseBytesMax: 10,
};

interface Stage {
  readonly exchange: Exchange;
  readonly settled: OutboundResult[];
  readonly controller: Dispatcher.DispatchController;
  readonly abort: jest.Mock;
  readonly connection: { isFlushed: boolean; hasSocketError: boolean; kill: jest.Mock; dispatch: jest.Mock };
  readonly clock: { nowMs: number; wallMs: number };
}

/** An exchange that was given to a connection, with undici's side of the conversation in the hands of the test. */
function begun(more: Partial<OutboundRequest> = {}): Stage {
  const settled: OutboundResult[] = [];
  const abort = jest.fn();
  const connection = { isFlushed: true, hasSocketError: false, kill: jest.fn(), dispatch: jest.fn() };
  const clock = { nowMs: 0, wallMs: 1_900_000_000_000 };
  const stage: Stage = {
    settled,
    abort,
    connection,
    clock,
    controller: { aborted: false, paused: false, reason: null, abort, pause: jest.fn(), resume: jest.fn() },
    exchange: new Exchange({
      request: { ...REQUEST, ...more },
      headers: {},
      path: '/',
      now: () => clock.nowMs,
      wallNow: () => clock.wallMs,
      onSettled: (result) => settled.push(result),
    }),
  };
  stage.exchange.begin(connection as unknown as Connection);
  return stage;
}

describe('Exchange', () => {
  it('lets undici write once, and refuses when undici would write the same request again', () => {
    const { exchange, controller, abort, settled } = begun();
    exchange.onRequestStart(controller);
    expect(abort).not.toHaveBeenCalled();
    exchange.onRequestStart(controller);
    expect(abort).toHaveBeenCalledTimes(1);
    expect(settled).toMatchObject([{ kind: 'no_response', cause: 'reset', evidence: { bytesWritten: true } }]);
  });

  it.each([
    [99.9, true],
    [100, false],
    [101, false],
  ])('with a limit of 100 lets undici write at %d ms: %p', (clockMs, isWritten) => {
    const stage = begun();
    stage.clock.nowMs = clockMs;
    stage.exchange.onRequestStart(stage.controller);
    expect(stage.abort).toHaveBeenCalledTimes(isWritten ? 0 : 1);
    expect(stage.settled.map((result) => result.evidence.bytesWritten)).toEqual(isWritten ? [] : [false]);
    stage.exchange.abandon('aborted');
  });

  it('takes the deadline for the limit when it is the earlier one', () => {
    const stage = begun({ deadlineMonotonicMs: 50 });
    stage.clock.nowMs = 60;
    stage.exchange.onRequestStart(stage.controller);
    expect(stage.settled).toMatchObject([{ cause: 'not_sent_deadline', evidence: { bytesWritten: false } }]);
  });

  it('has nothing written after it was given up', () => {
    const { exchange, controller, abort, settled, connection } = begun();
    exchange.abandon('aborted');
    exchange.onRequestStart(controller);
    expect(abort).toHaveBeenCalledTimes(1);
    expect(connection.kill).toHaveBeenCalledTimes(1);
    expect(settled).toMatchObject([{ cause: 'aborted', evidence: { bytesWritten: false } }]);
  });

  it('says once that the request was handed over, and only when it was', async () => {
    const onHandedToTransport = jest.fn();
    const stage = begun({ onHandedToTransport });
    stage.exchange.onRequestStart(stage.controller);
    expect(onHandedToTransport).not.toHaveBeenCalled();
    await Promise.resolve();
    expect(onHandedToTransport).toHaveBeenCalledTimes(1);
    const late = begun({ onHandedToTransport });
    late.clock.nowMs = 200;
    late.exchange.onRequestStart(late.controller);
    await Promise.resolve();
    expect(onHandedToTransport).toHaveBeenCalledTimes(1);
    stage.exchange.abandon('aborted');
  });

  it('sends nothing after a sleep that only the wall clock has seen', () => {
    const { exchange, controller, clock, abort, settled } = begun();
    clock.wallMs += 60_000;
    exchange.onRequestStart(controller);
    expect(abort).toHaveBeenCalledTimes(1);
    expect(settled).toMatchObject([{ cause: 'not_sent_deadline', evidence: { bytesWritten: false } }]);
  });

  it.each([999, -60_000])('is not held up by a wall clock that was set by %d ms', (byMs) => {
    const { exchange, controller, clock, abort } = begun();
    clock.wallMs += byMs;
    exchange.onRequestStart(controller);
    expect(abort).not.toHaveBeenCalled();
    exchange.abandon('aborted');
  });

  it('sleeps through a limit that is further off than a timer can hold', async () => {
    const now = jest.fn(() => 0);
    const request = { ...REQUEST, sendBeforeMonotonicMs: 1e12, deadlineMonotonicMs: Infinity };
    const exchange = new Exchange({ request, headers: {}, path: '/', now, wallNow: () => 0, onSettled: jest.fn() });
    await new Promise((resolve) => setTimeout(resolve, 30));
    expect(now.mock.calls.length).toBeLessThan(5);
    exchange.abandon('aborted');
  });

  it('keeps its first outcome, whatever comes after', () => {
    const { exchange, controller, settled } = begun();
    exchange.onRequestStart(controller);
    exchange.onResponseStart(controller, 200, {});
    exchange.onResponseEnd();
    exchange.onResponseError(controller, new Error('late'));
    exchange.onResponseData(controller, Buffer.from('late'));
    exchange.abandon('timeout');
    expect(settled).toHaveLength(1);
    expect(settled[0]).toMatchObject({ kind: 'response', status: 200 });
  });

  it('claims a flushed head only when the socket says so or the peer has answered', async () => {
    const stage = begun();
    stage.connection.isFlushed = false;
    stage.exchange.onRequestStart(stage.controller);
    await Promise.resolve();
    stage.exchange.abandon('timeout');
    expect(stage.settled[0]?.evidence).toMatchObject({ bytesWritten: true, headersFlushed: false });
    const answered = begun();
    answered.connection.isFlushed = false;
    answered.exchange.onRequestStart(answered.controller);
    answered.exchange.onResponseStart(answered.controller, 103, {});
    answered.exchange.abandon('timeout');
    expect(answered.settled[0]?.evidence).toMatchObject({ bytesWritten: true, headersFlushed: true });
  });
});
