import { describe, expect, it } from '@jest/globals';
import { compensationArguments, type CompensatedRecord } from './compensation-arguments.js';

const RECORD: CompensatedRecord = {
  toolCallId: 'call_1',
  arguments: { orderId: 'o-1', lines: [{ sku: 'a' }] },
  result: { refundId: 'r-1', fee: 0 },
  downstreamKey: 'cs_key',
  externalRequestId: null,
};

describe('the arguments of a compensation', () => {
  it('come from the record and from the manifest, and from nowhere else', () => {
    const declared = {
      capability: 'refund.void',
      arguments: {
        refund: { from: 'result', at: '/refundId' },
        fee: { from: 'result', at: '/fee' },
        sku: { from: 'arguments', at: '/lines/0/sku' },
        key: { from: 'downstreamKey' },
        original: { from: 'toolCallId' },
        silent: { value: false },
      },
    } as const;
    expect(compensationArguments(declared, RECORD)).toEqual({
      refund: 'r-1',
      fee: 0,
      sku: 'a',
      key: 'cs_key',
      original: 'call_1',
      silent: false,
    });
  });

  it.each([
    { from: 'result', at: '/nothing' },
    { from: 'arguments', at: '/lines/3' },
    { from: 'externalRequestId' },
  ] as const)('are refused where the record holds nothing for one (%j)', (source) => {
    const declared = { capability: 'refund.void', arguments: { wanted: source } };
    expect(() => compensationArguments(declared, RECORD)).toThrow(
      expect.objectContaining({ code: 'compensation_not_possible', message: expect.stringContaining('wanted') }),
    );
  });
});
