import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { JsonObject, JsonValue } from '../../../src/domain/json/json-value.js';
import { InProcessPolicyEvaluator } from '../../../src/policy/engine/in-process-policy-evaluator.js';
import { candidate, canonical, capability } from './policy-fixtures.js';

/** Everything about the order is forbidden but what the agent has no way to say: a value that is not text. */
const POLICIES = `
  @id("permit") permit(principal, action, resource);
  @id("root") forbid(principal, action, resource) when { context.input.orderId == "root" };
  @id("other") forbid(principal, action, resource) when { context.input has note && context.input.note like "*x*" };
  @id("tags") forbid(principal, action, resource) when { context.input has tags && context.input.tags.contains("t") };
`;

const CAPABILITY = capability({
  inputSchema: {
    type: 'object',
    required: ['orderId'],
    properties: {
      orderId: { type: 'string' },
      note: { type: 'string' },
      tags: { type: 'array', items: { type: 'string' } },
      customer: { type: 'object', properties: { name: { type: 'string' } } },
    },
  },
});

let evaluator: InProcessPolicyEvaluator;

beforeAll(async () => {
  evaluator = await InProcessPolicyEvaluator.create();
  expect((await evaluator.load(candidate(POLICIES, { capabilities: [CAPABILITY] }))).accepted).toBe(true);
});

const decide = (input: JsonObject) => evaluator.decide(canonical({ input }));

const escapes = fc.constantFrom<JsonValue>(
  { __entity: { type: 'Principal', id: 'alice' } },
  { type: 'Principal', id: 'alice' },
  { __extn: { fn: 'unknown', arg: 'x' } },
  { __extn: { fn: 'decimal', arg: '1.0' } },
  { __expr: '"safe"' },
  { fn: 'ip', arg: '127.0.0.1' },
);

describe('arguments that look like values of the engine', () => {
  it('in the place of text they are a denial, whatever they are', async () => {
    await fc.assert(
      fc.asyncProperty(escapes, fc.constantFrom('orderId', 'note'), async (value, key) => {
        expect(await decide({ orderId: 'o', [key]: value })).toMatchObject({
          outcome: 'deny',
          engineErrors: ['request_unreadable'],
        });
      }),
    );
  });

  it('inside sets and records they are a denial or are not seen', async () => {
    await fc.assert(
      fc.asyncProperty(escapes, async (value) => {
        expect((await decide({ orderId: 'o', tags: [value] })).engineErrors).toEqual(['request_unreadable']);
        expect((await decide({ orderId: 'o', customer: { name: value } })).engineErrors).toEqual([
          'request_unreadable',
        ]);
        expect((await decide({ orderId: 'o', customer: value })).outcome).toBe('allow');
        expect((await decide({ orderId: 'o', undeclared: value, ...(value as JsonObject) })).outcome).toBe('allow');
      }),
    );
  });

  it('beside declared arguments they never change a decision', async () => {
    const declared = fc.record(
      {
        orderId: fc.constantFrom('o', 'root', '__entity', '{"__entity":{"type":"Principal","id":"alice"}}'),
        note: fc.constantFrom('x', 'y', '\u0000', '\ud83d\ude00'),
        tags: fc.array(fc.constantFrom('t', 'u'), { maxLength: 2 }),
      },
      { requiredKeys: ['orderId'] },
    );
    const undeclared = fc.dictionary(fc.constantFrom('__entity', '__extn', '__expr', 'other', 'type', 'id'), escapes);
    await fc.assert(
      fc.asyncProperty(declared, undeclared, async (known, unknown) => {
        const plain = await decide(known as JsonObject);
        const dressed = await decide({ ...unknown, ...known } as JsonObject);
        const { requestDigest: _, ...expected } = plain;
        expect(dressed).toMatchObject(expected);
        const forbidden = known.orderId === 'root' || known.note === 'x' || known.tags?.includes('t') === true;
        expect(plain.outcome).toBe(forbidden ? 'deny' : 'allow');
      }),
    );
  });
});
