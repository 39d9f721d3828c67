import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { factSequences, governed, said } from '../../../test/builders/session-facts.js';
import { decodeRow, encodeRow, payloadDigest } from './row-codec.js';
import type { SessionEvent, SessionFact, SessionRow } from './session-row.js';

function rowOf(fact: SessionFact): SessionRow {
  if (fact.kind === 'event') return fact;
  const { payload: _, ...row } = fact;
  return row;
}

const EVENT: SessionEvent = {
  ...said(3, 'assistant.message', {
    messageId: 'm',
    contents: [{ type: 'text', text: 'é\n\u2028"\\' }],
    toolCalls: [],
  }),
  runId: 'run-1',
  turnId: 'turn-1',
  stepId: 'step-1',
  causationId: 'evt-2',
  synthetic: true,
  ignorable: true,
  groupId: 'g-1',
  groupIndex: 0,
  groupSize: 2,
};

describe('a row of the log', () => {
  it('comes back from its text as it was, with the digest of its payload', () => {
    for (const row of [EVENT, said(0, 'user.message', {}), rowOf(governed(4, 'run.started', { a: 1 }))]) {
      const text = encodeRow(row);
      expect(text).not.toMatch(/[\n\r]/u);
      const digest = row.kind === 'event' ? payloadDigest(row.payload) : row.payloadCommitment;
      expect(decodeRow(text)).toEqual({ ok: true, row, payloadDigest: digest });
    }
  });

  it('comes back whatever it holds', () => {
    fc.assert(
      fc.property(factSequences(30), (facts) => {
        for (const row of facts.map(rowOf)) expect(decodeRow(encodeRow(row))).toMatchObject({ ok: true, row });
      }),
      { numRuns: 40 },
    );
  });

  it('does not hold the payload of a governed event', () => {
    expect(encodeRow(rowOf(governed(1, 'run.failed', { lastError: { message: 'private' } })))).not.toContain('private');
  });

  const fields = JSON.parse(encodeRow(EVENT)) as Record<string, unknown>;

  it.each<[string, Record<string, unknown>]>([
    ['a seq that is no count', { seq: -1 }],
    ['a seq that is a text', { seq: '3' }],
    ['no event id', { eventId: undefined }],
    ['a type that is no text', { eventType: 7 }],
    ['no schema version', { schemaVersion: null }],
    ['a payload that is a list', { payload: [] }],
    ['no payload', { payload: undefined }],
    ['no digest', { payloadDigest: undefined }],
    ['a run id that is no text', { runId: 1 }],
    ['no causation', { causationId: undefined }],
    ['synthetic that is false', { synthetic: false }],
    ['a group without its size', { groupSize: undefined }],
    ['a place in a group behind its end', { groupIndex: 2 }],
    ['a place in a group without a group', { groupId: undefined }],
    ['no time', { occurredAt: undefined }],
  ])('with %s is malformed', (_, change) => {
    expect(decodeRow(JSON.stringify({ ...fields, ...change }))).toEqual({ ok: false, problem: 'malformed' });
  });

  const mirror = JSON.parse(encodeRow(rowOf(governed(4, 'run.started', {})))) as Record<string, unknown>;

  it.each<[string, Record<string, unknown>]>([
    ['a position that is no count', { position: 1.5 }],
    ['an envelope of another event', { envelope: { eventId: 'evt-9' } }],
    ['no envelope', { envelope: null }],
    ['no commitment', { payloadCommitment: 1 }],
  ])('that mirrors with %s is malformed', (_, change) => {
    expect(decodeRow(JSON.stringify({ ...mirror, ...change }))).toEqual({ ok: false, problem: 'malformed' });
  });

  it.each(['', '{', 'null', '[]', '1', '{}', '{"k":7}', '{"k":"e"}', '{"k":"m"}'])('%s is malformed', (text) => {
    expect(decodeRow(text)).toEqual({ ok: false, problem: 'malformed' });
  });

  it('of a kind that is not known is told apart from damage', () => {
    expect(decodeRow('{"k":"z","seq":1}')).toEqual({ ok: false, problem: 'unknown_kind' });
  });

  it('cut anywhere, or with any byte changed, is never a throw', () => {
    const text = encodeRow(EVENT);
    for (let at = 0; at < text.length; at += 1) {
      expect(decodeRow(text.slice(0, at)).ok).toBe(false);
      expect(decodeRow(`${text.slice(0, at)}#${text.slice(at + 1)}`)).not.toEqual(decodeRow(text));
    }
  });
});
