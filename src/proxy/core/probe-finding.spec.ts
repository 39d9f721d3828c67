import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonValue } from '../../domain/json/json-value.js';
import { readFinding, type ProbeReading } from './probe-finding.js';

const READING: ProbeReading = {
  foundAt: '/data',
  statusAt: '/status',
  happenedWhen: ['succeeded'],
  failedWhen: ['failed'],
  pendingWhen: ['pending'],
  referenceAt: '/id',
};

const found = (...effects: JsonValue[]): JsonValue => ({ data: effects });

describe('what a look-up says about the effect', () => {
  it.each([
    ['succeeded', 'happened'],
    ['failed', 'failed'],
    ['pending', 'pending'],
    ['brewing', 'unclear'],
    ['Succeeded', 'unclear'],
    ['', 'unclear'],
    [7, 'unclear'],
    [null, 'unclear'],
  ])('with the state %p is %s', (status, finding) => {
    expect(readFinding(200, found({ id: 'r-1', status }), READING).finding).toBe(finding);
  });

  it('holds the effect itself and the reference of the tool', () => {
    const effect = { id: 7, status: 'succeeded', amount: 500 };
    expect(readFinding(200, found(effect), READING)).toEqual({ finding: 'happened', effect, reference: '7' });
  });

  it('has no reference where the tool gives none of a usable kind', () => {
    for (const id of [undefined, null, {}, true]) {
      const effect = { status: 'succeeded', ...(id === undefined ? {} : { id }) };
      expect(readFinding(200, found(effect), READING)).toMatchObject({ reference: null });
    }
    expect(readFinding(200, found({ id: 'x', status: 'pending' }), { ...READING, referenceAt: null })).toEqual({
      finding: 'pending',
      reference: null,
    });
  });

  it('is happened for whatever is there where the manifest reads no state', () => {
    expect(readFinding(200, found({ id: 'r-1' }), { ...READING, statusAt: null }).finding).toBe('happened');
    expect(readFinding(200, { data: { id: 'r-1' } }, { ...READING, statusAt: null }).finding).toBe('happened');
  });

  it.each([
    ['an empty list', 200, { data: [] }],
    ['null', 200, { data: null }],
    ['nothing at the place', 200, { other: 1 }],
    ['status 404 with any body', 404, { data: [{ status: 'succeeded' }] }],
    ['status 404 without a body', 404, undefined],
  ] as const)('is absent for %s', (_, status, body) => {
    expect(readFinding(status, body as JsonValue | undefined, READING)).toEqual({ finding: 'absent' });
  });

  it('is unclear where it found more than one effect', () => {
    expect(readFinding(200, found({ status: 'succeeded' }, { status: 'succeeded' }), READING).finding).toBe('unclear');
  });

  it('is never absent, and never happened, where the tool did not answer with 2xx and JSON', () => {
    const status = fc.integer({ min: 100, max: 599 }).filter((code) => code !== 404);
    const body = fc.option(fc.constantFrom<JsonValue>(found(), found({ status: 'succeeded' }), null), {
      nil: undefined,
    });
    fc.assert(
      fc.property(status, body, (code, value) => {
        const { finding } = readFinding(code, value, READING);
        return (code >= 200 && code < 300 && value !== undefined) || finding === 'unclear';
      }),
    );
  });
});
