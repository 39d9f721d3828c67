import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { refundCapability } from '../../../test/builders/installation.js';
import { callIn } from '../../../test/builders/tool-call-examples.js';
import { jsonDigest } from '../../domain/digests/digests.js';
import type { JsonObject } from '../../domain/json/json-value.js';
import type { ToolCallState } from '../../domain/tool-call/tool-call.state.js';
import type { PolicyDecision, PolicyRequest } from '../core/policy-types.js';
import type { Judged } from '../judged.js';
import { composeQuestion, type AskedCall } from './question.js';

const NOW = '2031-01-01T10:00:00.000Z';
const DECISION = {
  outcome: 'requires_confirmation',
  reasons: ['amount'],
  obligations: {
    rules: [{ group: 'finance', count: 2, notRequester: true }],
    decideWithinMs: 3_600_000,
    executionWindowMs: 900_000,
  },
  policyRevision: 'sha256:policy',
} as unknown as PolicyDecision;

const judged = (more: Partial<Judged> = {}): Judged => ({
  phase: 'propose',
  request: {} as PolicyRequest,
  decision: DECISION,
  capability: refundCapability(),
  args: { orderId: 'o-1', cardToken: 'tok_hunter2' },
  redacted: [],
  target: { connector: 'http', method: 'POST', url: 'https://pay.example/refunds' },
  requesterSubjects: ['alice', 'agent-7'],
  agentReason: null,
  now: NOW,
  ...more,
});

const asked = (more: Partial<ToolCallState> = {}): AskedCall =>
  ({
    toolCallId: 'call_1',
    tenant: 'acme',
    state: { ...callIn('proposed'), executeBefore: null, ...more } as ToolCallState,
    supersedesApprovalId: null,
    runId: 'run_1',
    turnId: null,
  }) as AskedCall;

const shownOf = (more: Partial<Judged>): JsonObject => composeQuestion(judged(more), asked()).shown as JsonObject;

describe('the question to people', () => {
  it('shows what will be sent, where to, and why they are asked', () => {
    const question = composeQuestion(judged({ agentReason: 'the customer is right' }), asked());
    expect(question.shown).toMatchObject({
      title: 'Refund an order',
      capability: 'refund.create@1.0.0',
      risk: 'high',
      effect: 'probeable',
      arguments: { orderId: 'o-1', cardToken: 'tok_hunter2' },
      target: { method: 'POST', url: 'https://pay.example/refunds' },
      agentReason: 'the customer is right',
    });
    expect(question).toMatchObject({
      groups: [{ group: 'finance', count: 2, notRequester: true }],
      requesterSubjects: ['alice', 'agent-7'],
      reasons: ['amount'],
      policyRevision: 'sha256:policy',
      attempt: 1,
    });
  });

  it('masks what is redacted and nothing else', () => {
    const shown = shownOf({ redacted: ['/cardToken'] });
    expect(shown['arguments']).toEqual({
      orderId: 'o-1',
      cardToken: expect.stringMatching(/^\[redacted:[0-9a-f]{8}\]$/),
    });
    expect(JSON.stringify(shown)).not.toContain('hunter2');
  });

  it('makes visible what cannot be seen, in values, in keys, in the target and in the agent’s words', () => {
    const hidden = 'a\u202Eb\u200Bc\u001B[2K';
    const shown = shownOf({
      args: { [hidden]: [{ deep: hidden }] },
      target: { url: hidden },
      agentReason: hidden,
    });
    expect(JSON.stringify(shown)).not.toMatch(/[\u202E\u200B\u001B]|\\u001b/i);
    const visible = 'a\\u{202E}b\\u{200B}c\\u{001B}[2K';
    expect(shown['arguments']).toEqual({ [visible]: [{ deep: visible }] });
    expect(shown['agentReason']).toBe(visible);
  });

  it('shows two texts that differ only in what cannot be seen as two', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (left, right) => {
        const [a, b] = [left, right].map((text) => JSON.stringify(shownOf({ args: { text } })));
        return left === right || a !== b;
      }),
    );
  });

  it('keeps every argument, also one that is called like something of ours', () => {
    const args = JSON.parse('{"__proto__":{"a":1},"constructor":"x","toString":1}') as JsonObject;
    expect(JSON.stringify(shownOf({ args })['arguments'])).toBe('{"__proto__":{"a":1},"constructor":"x","toString":1}');
  });

  it('is kept with the digest of exactly what it shows', () => {
    const question = composeQuestion(judged(), asked());
    expect(question.shownDigest).toBe(jsonDigest(question.shown as JsonObject));
  });

  it('is not asked where the policy asks nobody', () => {
    expect(() => composeQuestion(judged({ decision: { ...DECISION, obligations: null } }), asked())).toThrow(
      'obligations',
    );
  });
});

describe('the digest that people agree to', () => {
  const consent = (call: Partial<AskedCall> = {}, more: Partial<Judged> = {}): string =>
    composeQuestion(judged(more), { ...asked(), ...call }).consentDigest;
  const of = (more: Partial<ToolCallState>): Partial<AskedCall> => ({ state: asked(more).state });

  it.each([
    ['call', consent({ toolCallId: 'call_2' })],
    ['tenant', consent({ tenant: 'globex' })],
    ['attempt', consent(of({ attempt: 2 }))],
    ['principal', consent(of({ principal: { sub: 'bob' } }))],
    ['arguments', consent(of({ argsDigest: 'sha256:other' }))],
    ['definition', consent(of({ manifestDigest: 'sha256:other' }))],
    ['risk', consent(of({ risk: 'critical' }))],
    ['end', consent(of({ executeBefore: '2031-01-01T10:30:00.000Z' }))],
    ['target', consent({}, { target: { url: 'https://evil.example' } })],
    ['policy', consent({}, { decision: { ...DECISION, policyRevision: 'sha256:2' } })],
    ['version', consent({}, { capability: refundCapability({ version: '2.0.0' }) })],
  ])('is another one for another %s', (_, digest) => {
    expect(digest).not.toBe(consent());
    expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('rests on what will be sent and not on how it is masked', () => {
    expect(consent({}, { redacted: ['/cardToken'] })).toBe(consent());
  });
});

describe('the two clocks of a question', () => {
  it.each([
    [null, '2031-01-01T11:00:00.000Z', '2031-01-01T11:15:00.000Z'],
    ['2031-01-01T12:00:00.000Z', '2031-01-01T11:00:00.000Z', '2031-01-01T11:15:00.000Z'],
    ['2031-01-01T11:05:00.000Z', '2031-01-01T11:00:00.000Z', '2031-01-01T11:05:00.000Z'],
    ['2031-01-01T10:30:00.000Z', '2031-01-01T10:30:00.000Z', '2031-01-01T10:30:00.000Z'],
  ])('with the caller’s own end at %s stop at %s and %s', (executeBefore, decideBy, executeByLatest) => {
    const question = composeQuestion(judged(), asked({ executeBefore }));
    expect(question).toMatchObject({ decideBy, expiresAt: decideBy, executeByLatest, executionWindowMs: 900_000 });
  });
});
