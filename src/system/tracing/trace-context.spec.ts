import { describe, expect, it } from '@jest/globals';
import { callTraceIds, formatTraceparent, parseTraceparent } from './trace-context.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';

describe('a trace context', () => {
  it.each([
    [`00-${TRACE}-${SPAN}-01`, true],
    [`00-${TRACE}-${SPAN}-00`, false],
    [`00-${TRACE}-${SPAN}-03`, true],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-adds`, true],
  ])('is read from %s', (header, sampled) => {
    expect(parseTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, sampled });
  });

  it.each([
    undefined,
    '',
    ['00', TRACE],
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-01\r\nx: y`,
  ])('is not read from %j', (header) => {
    expect(parseTraceparent(header)).toBeNull();
  });

  it('is written as it is read', () => {
    for (const flags of ['00', '01']) {
      const header = `00-${TRACE}-${SPAN}-${flags}`;
      const context = parseTraceparent(header);
      expect(context === null ? null : formatTraceparent(context)).toBe(header);
    }
  });

  it('of a call follows from its id, the same in every process', () => {
    expect(callTraceIds('call_01jgfjjk00aaaaaaaaaaaaaaaa')).toEqual(callTraceIds('call_01jgfjjk00aaaaaaaaaaaaaaaa'));
    const { traceId, callSpanId, requestSpanId } = callTraceIds('call_01jgfjjk00aaaaaaaaaaaaaaab');
    expect([traceId.length, callSpanId.length, requestSpanId.length]).toEqual([32, 16, 16]);
    expect(traceId).not.toBe(callTraceIds('call_01jgfjjk00aaaaaaaaaaaaaaaa').traceId);
  });
});
