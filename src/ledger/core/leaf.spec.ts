import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { EventEnvelope } from '../../domain/events/envelope.js';
import { canonicalJson } from '../../domain/json/canonical-json.js';
import type { JsonValue } from '../../domain/json/json-value.js';
import { commitmentText, leafHash, leafText, payloadCommitment } from './leaf.js';

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const ENVELOPE: EventEnvelope = {
  eventId: 'evt_01m8p180bc5f7fr5c2jrbsmyjc',
  eventType: 'tool.call.proposed',
  schemaVersion: 1,
  tenant: 'acme',
  streamKind: 'call',
  streamId: 'call_01m8p180bc5f7fr5c2jrbsmyjd',
  version: 1,
  unitId: 'unt_01m8p180bc5f7fr5c2jrbsmyje',
  unitIndex: 0,
  unitSize: 4,
  sessionId: 'run_01m8p180bc5f7fr5c2jrbsmyjf',
  runId: 'run_01m8p180bc5f7fr5c2jrbsmyjf',
  toolCallId: 'call_01m8p180bc5f7fr5c2jrbsmyjd',
  producer: 'capability-runtime',
  actor: { sub: 'zo\u00eb', act: { sub: 'agent "7"\n' } },
  correlationId: 'call_01m8p180bc5f7fr5c2jrbsmyjd',
  causationId: null,
  causeKind: 'external',
  occurredAt: '2031-01-01T00:00:00.000Z',
  recordedAt: '2031-01-01T00:00:00.123Z',
  versionSetId: 'v1',
};
const SALT = Uint8Array.from({ length: 16 }, (_, index) => index);
const PAYLOAD = new TextEncoder().encode('{"amountMinor":1200,"note":"\u20ac"}');

/** Made by a program in another language (Python: hashlib, and json with sorted keys). */
const COMMITMENT = 'a33e40e15e8084aea0595faa7690746206c3d73db24323e9ef2c76a055d0ca20';
const LEAF = '5c6006375f87b372708b3c5f2dc15093d9079ff5095f1c25b45b0c2d826306cc';

describe('the leaf of an event', () => {
  it('has the commitment and the hash that another program computes', () => {
    const commitment = payloadCommitment(SALT, PAYLOAD);
    expect(hex(commitment)).toBe(COMMITMENT);
    expect(hex(leafHash(ENVELOPE, commitment))).toBe(LEAF);
  });

  it('commits to salt and payload, in this order', () => {
    expect(hex(payloadCommitment(PAYLOAD, SALT))).not.toBe(COMMITMENT);
    expect(
      hex(
        payloadCommitment(
          SALT.map((byte) => byte + 1),
          PAYLOAD,
        ),
      ),
    ).not.toBe(COMMITMENT);
  });

  it('is the canonical JSON of the envelope with the commitment, whatever the order of its members', () => {
    const optional = fc.option(fc.string({ unit: 'grapheme' }), { nil: undefined });
    const envelopes = fc.record({
      approvalId: optional,
      turnId: optional,
      policyDecisionId: optional,
      commandId: optional,
      sub: fc.string({ unit: 'binary' }),
      order: fc.array(fc.nat(), { minLength: 30, maxLength: 30 }),
      commitment: fc.uint8Array({ minLength: 32, maxLength: 32 }),
    });
    fc.assert(
      fc.property(envelopes, ({ sub, order, commitment, ...refs }) => {
        const present = Object.fromEntries(Object.entries(refs).filter(([, value]) => value !== undefined));
        const members = Object.entries({ ...ENVELOPE, ...present, actor: { sub, act: { sub: 'agent' } } });
        const shuffled = members
          .map((member, index) => ({ member, at: order[index] ?? 0 }))
          .sort((left, right) => left.at - right.at)
          .map(({ member }) => member);
        const envelope = Object.fromEntries(shuffled) as unknown as EventEnvelope;
        const whole = { ...envelope, payloadCommitment: commitmentText(commitment) };
        expect(leafText(envelope, commitment)).toBe(canonicalJson(whole as unknown as JsonValue));
      }),
    );
  });

  it('refuses an envelope with a member that it would not cover', () => {
    const commitment = new Uint8Array(32);
    const more = { ...ENVELOPE, seq: 1 } as EventEnvelope;
    expect(() => leafHash(more, commitment)).toThrow('a member that no envelope has');
    const undefinedMember = { ...ENVELOPE, turnId: undefined } as unknown as EventEnvelope;
    expect(() => leafHash(undefinedMember, commitment)).toThrow('a member that no envelope has');
    const own = { ...ENVELOPE, payloadCommitment: 'sha256:' } as EventEnvelope;
    expect(() => leafHash(own, commitment)).toThrow('a member that no envelope has');
  });

  it('refuses what has no canonical form, and a commitment of another length', () => {
    expect(() => leafHash({ ...ENVELOPE, tenant: '\ud800' }, new Uint8Array(32))).toThrow('not JSON');
    expect(() => leafHash({ ...ENVELOPE, version: Number.NaN }, new Uint8Array(32))).toThrow('not JSON');
    expect(() => leafHash(ENVELOPE, new Uint8Array(31))).toThrow('32 bytes');
  });

  it('cannot be taken for a node: the prefix is part of what is hashed', () => {
    const asNode = payloadCommitment(
      Uint8Array.of(1),
      new TextEncoder().encode(leafText(ENVELOPE, new Uint8Array(32))),
    );
    expect(hex(asNode)).not.toBe(hex(leafHash(ENVELOPE, new Uint8Array(32))));
    const asLeaf = payloadCommitment(
      Uint8Array.of(0),
      new TextEncoder().encode(leafText(ENVELOPE, new Uint8Array(32))),
    );
    expect(hex(asLeaf)).toBe(hex(leafHash(ENVELOPE, new Uint8Array(32))));
  });
});
