import { describe, expect, it } from '@jest/globals';
import { AGENT, callerWith, proposalWith, refundCapability } from '../../../test/builders/installation.js';
import { settingsWith } from '../../../test/builders/settings-examples.js';
import { READ, type Changes } from '../../../test/contract/capabilities/manifest-examples.js';
import { CapabilityRegistry } from '../../capabilities/capability-registry.js';
import { CountersignError } from '../../domain/errors/countersign-error.js';
import { IntentReader, type Intent } from './intent-reader.js';
import type { Proposal } from './propose-tool-call.command.js';

const read = (more: Partial<Proposal> = {}, changes: Changes = {}, caller = AGENT): Intent =>
  new IntentReader(new CapabilityRegistry([refundCapability(changes)]), settingsWith()).read(
    caller,
    proposalWith(more),
  );

function refusal(more: Partial<Proposal>, changes: Changes = {}): Partial<CountersignError> {
  try {
    read(more, changes);
  } catch (error) {
    if (error instanceof CountersignError) return { code: error.code, details: error.details };
    throw error;
  }
  throw new Error('it was read');
}

describe('reading a proposal', () => {
  it('fills in defaults, and digests and sends what it filled in', () => {
    const intent = read();
    expect(intent.args).toEqual({ orderId: 'o-1', amountMinor: 500, currency: 'EUR' });
    expect(intent.argsDigest).toBe(
      read({ arguments: { currency: 'EUR', amountMinor: 500, orderId: 'o-1' } }).argsDigest,
    );
    expect(intent.argsDigest).not.toBe(read({ arguments: { orderId: 'o-1', amountMinor: 501 } }).argsDigest);
  });

  it('names the principal and not the whole chain, so that a replaced harness meets its own keys', () => {
    const deep = callerWith({ actor: { sub: 'alice', act: { sub: 'agent-7', act: { sub: 'pod-1' } } } });
    expect(read({}, {}, deep).principalKey).toBe('["alice","agent-7"]');
    expect(read({}, {}, deep).intentDigest).toBe(read().intentDigest);
  });

  it('makes another intent of another tenant, principal or capability, and not of another version', () => {
    const { intentDigest } = read();
    expect(read({}, {}, callerWith({ tenant: 'globex' })).intentDigest).not.toBe(intentDigest);
    expect(read({}, {}, callerWith({ actor: { sub: 'bob' } })).intentDigest).not.toBe(intentDigest);
    expect(read({ capability: 'payout.create' }, { name: 'payout.create' }).intentDigest).not.toBe(intentDigest);
    expect(read({}, { version: '2.0.0' }).intentDigest).toBe(intentDigest);
  });

  it('keeps no key in clear and gives equal keys of two tenants nothing in common', () => {
    expect(read().keyHash).not.toContain('key-1');
    expect(read({}, {}, callerWith({ tenant: 'globex' })).keyHash).not.toBe(read().keyHash);
  });

  it('says where it will be sent with everything secret masked', () => {
    const changes: Changes = {
      redact: ['/orderId'],
      connector: { request: { path: '/v1/orders/{args.orderId}/refunds' } },
    };
    const { target, redacted } = read({}, changes);
    expect(redacted).toContain('/orderId');
    expect(target).toMatchObject({ connector: 'http', method: 'POST' });
    expect(JSON.stringify(target)).not.toContain('o-1');
  });

  it('masks a secret by its name where the manifest says nothing', () => {
    expect(read({ arguments: { orderId: 'o-1', amountMinor: 5, cardToken: 'tok_hunter2' } }).redacted).toEqual([
      '/cardToken',
    ]);
  });

  it.each([
    ['a name nobody has', { capability: 'payout.create' }, { code: 'capability_unknown', at: '/capability' }],
    [
      'a version that is not in force',
      { capability: 'refund.create@9.0.0' },
      { code: 'capability_version_unknown', at: '/capability' },
    ],
    [
      'arguments that do not fit',
      { arguments: { orderId: 'o-1', amountMinor: 'lots' } },
      { code: 'invalid_arguments', at: '/arguments/amountMinor' },
    ],
    [
      'arguments nobody knows',
      { arguments: { orderId: 'o-1', amountMinor: 5, extra: 1 } },
      { code: 'invalid_arguments', at: '/arguments/extra' },
    ],
    ['a reason that is too long', { reason: 'x'.repeat(2049) }, { code: 'invalid_request', at: '/reason' }],
    ['a reason of few letters and many bytes', { reason: '€'.repeat(700) }, { code: 'invalid_request', at: '/reason' }],
  ] as const)('refuses %s and says where', (_, more, { code, at }) => {
    expect(refusal(more)).toMatchObject({ code, details: { pointer: at } });
  });

  it('refuses arguments that are too large once defaults are there', () => {
    const changes: Changes = { inputSchema: { properties: { note: { type: 'string', maxLength: 300_000 } } } };
    const note = 'x'.repeat(262_144);
    expect(refusal({ arguments: { orderId: 'o-1', amountMinor: 5, note } }, changes)).toMatchObject({
      code: 'payload_too_large',
      details: { pointer: '/arguments' },
    });
  });

  it('never repeats a value in a refusal', () => {
    const problem = refusal({ arguments: { orderId: 'hunter2'.repeat(20), amountMinor: 'hunter2' } });
    expect(JSON.stringify(problem)).not.toContain('hunter2');
  });
});

describe('the key of a proposal', () => {
  it('is needed for everything that has an effect', () => {
    expect(refusal({ idempotencyKey: null })).toMatchObject({ code: 'idempotency_key_required' });
  });

  it('is not needed for a read, and is used where there is one', () => {
    const order = { arguments: { orderId: 'o-1', amountMinor: 5 } };
    expect(read({ ...order, idempotencyKey: null }, READ)).toMatchObject({ key: null, keyHash: null });
    expect(read({ ...order, idempotencyKey: 'mine' }, READ).key).toBe('mine');
  });

  it('is derived where the manifest says how, and the caller’s own wins', () => {
    const changes: Changes = { idempotency: { callerKeyTemplate: 'refund:{args.orderId}:{intentId}' } };
    expect(read({ idempotencyKey: null, intentId: 'i-1' }, changes).key).toBe('refund:o-1:i-1');
    expect(read({ idempotencyKey: 'mine', intentId: 'i-1' }, changes).key).toBe('mine');
    expect(refusal({ idempotencyKey: null }, changes)).toMatchObject({ code: 'idempotency_key_required' });
  });

  it.each(['', ' ', 'with space', 'tab\t', 'kö', 'x'.repeat(256)])('refuses "%s"', (idempotencyKey) => {
    expect(refusal({ idempotencyKey })).toMatchObject({ code: 'invalid_idempotency_key' });
  });
});
