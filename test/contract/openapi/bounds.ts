import { z } from 'zod';
import type { OpenApiDocument } from '../../../src/http/openapi/document.js';
import type { Route } from '../../../src/http/openapi/routes.js';
import { documented, resolve } from './document-findings.js';

/** What a field may hold at most and at least, and its form: one line for each, sorted. */
type Bounds = readonly string[];

type Json = Readonly<Record<string, unknown>>;

const KEYWORDS = ['minLength', 'maxLength', 'pattern', 'minimum', 'maximum', 'minItems', 'maxItems', 'enum', 'const'];

/** Bounds of bodies and queries that the server knows and the document does not, and the other way round. */
export function missingBounds(document: OpenApiDocument, routes: readonly Route[]): string[] {
  const operations = documented(document);
  return routes.flatMap(({ method, path, operation }) => {
    const name = `${method.toUpperCase()} ${path}`;
    const { requestBody, parameters = [] } = operations.get(name) ?? {};
    const { content } = (requestBody ?? {}) as { content?: Readonly<Record<string, { schema: Json }>> };
    const query = parameters.filter((parameter) => parameter['in'] === 'query');
    const properties = Object.fromEntries(query.map((each) => [each['name'] as string, each['schema']]));
    const shown = [content?.['application/json']?.schema ?? {}, { properties }].flatMap((schema) =>
      boundsOfJson(schema, (ref) => resolve(document, ref)),
    );
    const held = [operation?.body, operation?.query].flatMap((schema) =>
      schema === undefined ? [] : boundsOfZod(schema),
    );
    const apart = [...held.filter((line) => !shown.includes(line)), ...shown.filter((line) => !held.includes(line))];
    return apart.map((line) => `${name}: ${line.trim()}`);
  });
}

/** As a JSON Schema says it. References are followed by `resolve`. */
function boundsOfJson(schema: Json, resolve: (ref: string) => Json, path = ''): Bounds {
  if (typeof schema['$ref'] === 'string') return boundsOfJson(resolve(schema['$ref']), resolve, path);
  const own = KEYWORDS.filter((word) => schema[word] !== undefined).map((word) =>
    word === 'const' || word === 'enum' ? words(path, schema[word]) : `${path} ${word} ${String(schema[word])}`,
  );
  const fields = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
  const options = (schema['oneOf'] ?? schema['anyOf'] ?? []) as readonly Json[];
  const items = schema['items'] as Json | undefined;
  return [
    ...own,
    ...fields.flatMap(([name, field]) => boundsOfJson(field, resolve, `${path}/${name}`)),
    ...options.flatMap((option, n) => boundsOfJson(option, resolve, `${path}|${n}`)),
    ...(items === undefined ? [] : boundsOfJson(items, resolve, `${path}[]`)),
  ].toSorted();
}

/** As the schema that the server parses with has them. */
function boundsOfZod(schema: z.core.$ZodType, path = ''): Bounds {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return boundsOfZod(schema.unwrap(), path);
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape as Record<string, z.core.$ZodType>);
    return fields.flatMap(([name, field]) => boundsOfZod(field, `${path}/${name}`)).toSorted();
  }
  if (schema instanceof z.ZodUnion) {
    return schema.options.flatMap((option, n) => boundsOfZod(option, `${path}|${n}`)).toSorted();
  }
  if (schema instanceof z.ZodArray)
    return [...checksOf(schema, path), ...boundsOfZod(schema.element, `${path}[]`)].toSorted();
  if (schema instanceof z.ZodEnum) return [words(path, schema.options)];
  if (schema instanceof z.ZodLiteral) return [words(path, [...schema.values])];
  if (schema instanceof z.ZodRecord || schema instanceof z.ZodBoolean) return [];
  if (schema instanceof z.ZodString || schema instanceof z.ZodNumber) return checksOf(schema, path).toSorted();
  throw new Error(`say here what bounds the schema at ${path} has`);
}

function checksOf(schema: z.ZodType, path: string): string[] {
  return (schema._zod.def.checks ?? []).flatMap((check) => {
    const def = check._zod.def as unknown as Readonly<Record<string, unknown>>;
    const isArray = schema instanceof z.ZodArray;
    switch (def['check']) {
      case 'min_length':
        return [`${path} ${isArray ? 'minItems' : 'minLength'} ${String(def['minimum'])}`];
      case 'max_length':
        return [`${path} ${isArray ? 'maxItems' : 'maxLength'} ${String(def['maximum'])}`];
      case 'greater_than':
        return [`${path} minimum ${String(def['value'])}`];
      case 'less_than':
        return [`${path} maximum ${String(def['value'])}`];
      case 'string_format':
        return [`${path} pattern ${(def['pattern'] as RegExp).source}`];
      case 'number_format':
      case 'custom':
        return [];
      default:
        throw new Error(`say here what the check ${String(def['check'])} at ${path} is in JSON Schema`);
    }
  });
}

const words = (path: string, values: unknown): string => `${path} one of ${JSON.stringify([values].flat())}`;
