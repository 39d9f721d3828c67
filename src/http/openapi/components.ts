import { z } from 'zod';

/** A JSON Schema (draft 2020-12, the dialect of OpenAPI 3.1) or a reference to one. */
export type SchemaObject = Readonly<Record<string, unknown>>;

const LOCAL = '#/$defs/';
const SHARED = '#/components/schemas/';

/** The shared schemas of a document: a zod schema with an `id` becomes one, everything else stays where it is used. */
export class Components {
  private readonly found = new Map<string, SchemaObject>();

  constructor(private readonly examples: Readonly<Record<string, readonly unknown[]>>) {}

  /** The schema as it is to be written where it is used. */
  schema(source: z.ZodType): SchemaObject {
    const written = z.toJSONSchema(source, { target: 'draft-2020-12', io: 'input', override: plain });
    const { $schema: _, $defs, ...root } = rewritten(written) as { $schema?: string; $defs?: Defs };
    for (const [id, schema] of Object.entries($defs ?? {})) this.add(id, schema);
    return root;
  }

  add(id: string, schema: SchemaObject): SchemaObject {
    const shown = this.examples[id] === undefined ? schema : { ...schema, examples: this.examples[id] };
    const earlier = this.found.get(id);
    if (earlier !== undefined && JSON.stringify(earlier) !== JSON.stringify(shown)) {
      throw new Error(`two schemas of the wire contract have the id ${id}`);
    }
    this.found.set(id, shown);
    return { $ref: `${SHARED}${id}` };
  }

  all(): Readonly<Record<string, SchemaObject>> {
    return Object.fromEntries([...this.found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

type Defs = Readonly<Record<string, SchemaObject>>;

/** Every key of a JSON object is a text: to say so says nothing. */
function plain({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (JSON.stringify(jsonSchema.propertyNames) === '{"type":"string"}') delete jsonSchema.propertyNames;
}

function rewritten(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rewritten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      key === '$ref' && typeof inner === 'string' ? inner.replace(LOCAL, SHARED) : rewritten(inner),
    ]),
  );
}
