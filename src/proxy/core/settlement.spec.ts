import { describe, expect, it } from '@jest/globals';
import { UNKNOWN_CAUSES } from '../../domain/events/catalogue.js';
import type { Observation } from './classify-http.js';
import { settlementOf, unknownCause, type Ended } from './settlement.js';

const ended = (observation: Observation, more: Partial<Ended> = {}): Ended => ({
  observation,
  evidence: { tookMs: 12 },
  toolWords: null,
  sentAt: '2031-01-01T10:00:00.100Z',
  endedAt: '2031-01-01T10:00:00.200Z',
  retryRejected: true,
  isRead: false,
  digest: (value) => `digest of ${JSON.stringify(value)}`,
  ...more,
});

describe('what an ended attempt records', () => {
  it('is a completion with the result and its digest where the tool said so', () => {
    const observed = { class: 'completed', output: { id: 'r-1' }, status: 201, truncated: true } as const;
    expect(settlementOf(ended(observed))).toEqual({
      kind: 'complete',
      acceptedAt: '2031-01-01T10:00:00.200Z',
      sentAt: '2031-01-01T10:00:00.100Z',
      completion: {
        basis: 'direct',
        result: { id: 'r-1' },
        resultDigest: 'digest of {"id":"r-1"}',
        resultTruncated: true,
        evidence: { tookMs: 12 },
      },
    });
  });

  it('is an acceptance with the reference of the tool where it works on', () => {
    const observed = { class: 'accepted', externalRequestId: 'job-1', status: 202 } as const;
    expect(settlementOf(ended(observed))).toMatchObject({
      kind: 'record_acceptance',
      sentAt: '2031-01-01T10:00:00.100Z',
      acceptance: { acceptedAt: '2031-01-01T10:00:00.200Z', basis: 'ack', externalRequestId: 'job-1' },
    });
  });

  it('is a failure without effect where the tool rejected it, in the words of the tool', () => {
    const observed = { class: 'rejected', status: 422 } as const;
    expect(settlementOf(ended(observed, { toolWords: 'no such order' }))).toMatchObject({
      kind: 'fail',
      sentAt: '2031-01-01T10:00:00.100Z',
      failure: {
        code: 'rejected_by_tool',
        effect: 'none',
        basis: 'rejected',
        retryable: true,
        message: 'no such order',
      },
    });
    expect(settlementOf(ended(observed))).toMatchObject({ failure: { message: 'the tool answered 422' } });
  });

  it('may not be retried where the manifest says that a rejection stays one', () => {
    const observed = { class: 'rejected', status: 422 } as const;
    expect(settlementOf(ended(observed, { retryRejected: false }))).toMatchObject({ failure: { retryable: false } });
  });

  it('never says sent where nothing left, whatever was noted', () => {
    expect(settlementOf(ended({ class: 'not_sent', cause: 'connect_refused' }))).toMatchObject({
      kind: 'fail',
      sentAt: null,
      failure: { code: 'not_sent', effect: 'none', basis: 'not_sent', retryable: true },
    });
  });

  it('is unknown where nothing was proven, and nothing that reads like an end', () => {
    const command = settlementOf(ended({ class: 'unknown', cause: 'timeout' }));
    expect(command).toEqual({
      kind: 'mark_unknown',
      sentAt: '2031-01-01T10:00:00.100Z',
      unknown: { cause: 'timeout', lastError: 'timeout', evidence: { tookMs: 12 } },
    });
  });
});

describe('the word for why nobody knows', () => {
  it.each([
    ['timeout', 'timeout'],
    ['redirect', 'redirected'],
    ['status_not_definitive', 'ambiguous_status'],
    ['output_unreadable', 'unreadable_answer'],
    ['output_invalid', 'unreadable_answer'],
    ['output_truncated', 'unreadable_answer'],
    ['accepted_without_reference', 'unreadable_answer'],
    ['bad_framing', 'unreadable_answer'],
    ['body_incomplete', 'unreadable_answer'],
    ['connection_reset', 'reset'],
    ['a word of tomorrow', 'reset'],
  ])('for %s is %s', (cause, word) => {
    expect(unknownCause(cause)).toBe(word);
    expect(UNKNOWN_CAUSES).toContain(unknownCause(cause));
  });
});
