import { describe, expect, it } from '@jest/globals';
import { callTraceIds } from './trace-context.js';

describe('a trace context', () => {
  it('of a call follows from its id, the same in every process', () => {
    expect(callTraceIds('call_01jgfjjk00aaaaaaaaaaaaaaaa')).toEqual(callTraceIds('call_01jgfjjk00aaaaaaaaaaaaaaaa'));
    const { traceId, callSpanId, requestSpanId } = callTraceIds('call_01jgfjjk00aaaaaaaaaaaaaaab');
    expect([traceId.length, callSpanId.length, requestSpanId.length]).toEqual([32, 16, 16]);
    expect(traceId).not.toBe(callTraceIds('call_01jgfjjk00aaaaaaaaaaaaaaaa').traceId);
  });
});
