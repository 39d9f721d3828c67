import { describe, expect, it } from '@jest/globals';
import type { GovernedCapability } from './schema.js';
import { schemaFrom, schemaOfActions } from './schema.js';

function capability(name: string, over: Partial<GovernedCapability> = {}): GovernedCapability {
  return {
    name,
    version: '1',
    risk: 'low',
    effect: 'opaque',
    inputSchema: {
      type: 'object',
      additionalProperties: false,
      required: ['id'],
      properties: {
        id: { type: 'string' },
        ids: { type: 'array', items: { type: 'integer' } },
        price: { type: 'number' },
      },
    },
    personal: [],
    ...over,
  };
}

describe('the schema made from manifests', () => {
  it('has one action per capability, whose context is the arguments, the votes and the circumstances', () => {
    const { schema } = schemaFrom([capability('a.b')], ['finance']);
    const votes = {
      type: 'Record',
      attributes: { count: { type: 'Long', required: true }, includesRequester: { type: 'Boolean', required: true } },
      required: true,
    };
    expect(schema[''].actions).toEqual({
      'a.b': {
        appliesTo: {
          principalTypes: ['Principal'],
          resourceTypes: ['Capability'],
          context: {
            type: 'Record',
            attributes: {
              input: {
                type: 'Record',
                attributes: {
                  id: { type: 'String', required: true },
                  ids: { type: 'Set', element: { type: 'Long' }, required: false },
                },
                required: true,
              },
              approvals: { type: 'Record', attributes: { finance: votes }, required: true },
              nowMs: { type: 'Long', required: true },
              attempt: { type: 'Long', required: true },
              reasoning: {
                type: 'Record',
                attributes: { present: { type: 'Boolean', required: true } },
                required: true,
              },
              allowDuplicateIntent: { type: 'Boolean', required: true },
              breakGlass: { type: 'Boolean', required: true },
            },
          },
        },
      },
    });
  });

  it('says which arguments policies cannot see', () => {
    expect(schemaFrom([capability('a'), capability('b')], []).unreadable).toEqual([
      { capability: 'a', pointers: ['/price'] },
      { capability: 'b', pointers: ['/price'] },
    ]);
  });

  it('one name is one action', () => {
    expect(() => schemaFrom([capability('a'), capability('a', { version: '2' })], [])).toThrow(
      'two capabilities are named a',
    );
  });

  it('the schema of one action has the same types and that action only', () => {
    const { schema } = schemaFrom([capability('a'), capability('b')], []);
    const part = schemaOfActions(schema, ['b']);
    expect(Object.keys(part[''].actions)).toEqual(['b']);
    expect(part[''].actions['b']).toBe(schema[''].actions['b']);
    expect(part[''].entityTypes).toBe(schema[''].entityTypes);
  });
});
