import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Components } from './components.js';

const word = z.enum(['a', 'b']).meta({ id: 'Word' });
const page = z.strictObject({ items: z.array(word), more: word.nullable().describe('The next.') }).meta({ id: 'Page' });

describe('the components of a document', () => {
  it('are the schemas that have an id, written once and referred to by it', () => {
    const components = new Components({});
    expect(components.schema(page)).toEqual({ $ref: '#/components/schemas/Page' });
    expect(components.schema(word)).toEqual({ $ref: '#/components/schemas/Word' });
    const ref = { $ref: '#/components/schemas/Word' };
    expect(components.all()).toEqual({
      Page: {
        type: 'object',
        properties: {
          items: { type: 'array', items: ref },
          more: { anyOf: [ref, { type: 'null' }], description: 'The next.' },
        },
        required: ['items', 'more'],
        additionalProperties: false,
      },
      Word: { type: 'string', enum: ['a', 'b'] },
    });
  });

  it('leave a schema without an id where it is used', () => {
    const components = new Components({});
    expect(components.schema(z.string().min(1).max(9))).toEqual({ type: 'string', minLength: 1, maxLength: 9 });
    expect(components.all()).toEqual({});
  });

  it('carry their examples', () => {
    const components = new Components({ Word: ['a'] });
    components.schema(page);
    expect(components.all()['Word']).toEqual({ type: 'string', enum: ['a', 'b'], examples: ['a'] });
  });

  it('are never two of one name', () => {
    const components = new Components({});
    components.schema(word);
    components.add('Word', { type: 'string', enum: ['a', 'b'] });
    expect(() => components.add('Word', { type: 'number' })).toThrow('the id Word');
  });
});
