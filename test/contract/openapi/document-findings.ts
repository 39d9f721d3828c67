import { ERRORS } from '../../../src/domain/errors/error-codes.js';
import { ROLES } from '../../../src/identity/caller.js';
import type { OpenApiDocument } from '../../../src/http/openapi/document.js';
import type { Route } from '../../../src/http/openapi/routes.js';

type Json = Readonly<Record<string, unknown>>;

interface Described {
  readonly operationId?: string;
  readonly 'x-roles'?: readonly string[];
  readonly security?: readonly Json[];
  readonly requestBody?: Json;
  readonly parameters?: readonly Json[];
  readonly responses: Readonly<Record<string, { readonly 'x-codes'?: readonly string[] }>>;
}

/** `METHOD /path` of every operation of a document. */
export function documented(document: OpenApiDocument): Map<string, Described> {
  return new Map(
    Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]): [string, Described] => [
        `${method.toUpperCase()} ${path}`,
        operation as unknown as Described,
      ]),
    ),
  );
}

/** What the routes, as Fastify has them and as the guard reads them, and the document do not agree in. */
export function disagreements(
  document: OpenApiDocument,
  registered: readonly string[],
  routes: readonly Route[],
): string[] {
  const operations = documented(document);
  const found = registered.filter((route) => !operations.has(route)).map((route) => `${route} is not in the document`);
  for (const [name, operation] of operations) {
    if (!registered.includes(name)) found.push(`${name} is no route`);
    const route = routes.find(({ method, path }) => `${method.toUpperCase()} ${path}` === name);
    if (route !== undefined) found.push(...accessFindings(name, operation, route));
  }
  const ids = [...operations.values()].map(({ operationId }) => operationId);
  if (new Set(ids).size !== ids.length) found.push('two operations have one operationId');
  return found;
}

function accessFindings(name: string, operation: Described, { access }: Route): string[] {
  const roles = access === 'public' ? [] : ROLES.filter((role) => access.includes(role));
  const found: string[] = [];
  if (JSON.stringify(operation['x-roles']) !== JSON.stringify(roles)) found.push(`${name} has other roles`);
  const schemes = (operation.security ?? []).map((scheme) => Object.keys(scheme).join());
  const guarded = schemes.length > 0 && !schemes.includes('');
  if (guarded !== (access !== 'public')) found.push(`${name} is ${guarded ? 'not guarded' : 'guarded'}`);
  const refuses = '401' in operation.responses;
  if ((guarded && !refuses) || (refuses && !schemes.includes('bearer'))) found.push(`${name} has a wrong 401`);
  return found;
}

/** Objects of a request that would take a field the server refuses: neither closed nor said to be a map. */
export function openObjects(document: OpenApiDocument): string[] {
  const found: string[] = [];
  for (const [name, { requestBody }] of documented(document)) {
    for (const [path, schema] of objectsIn(document, requestBody, name)) {
      const isMap = schema['properties'] === undefined && typeof schema['additionalProperties'] === 'object';
      if (schema['additionalProperties'] !== false && !isMap) found.push(path);
    }
  }
  return found;
}

function objectsIn(document: OpenApiDocument, value: unknown, path: string): [string, Json][] {
  if (typeof value !== 'object' || value === null) return [];
  const node = value as Json;
  const { $ref } = node;
  if (typeof $ref === 'string') return objectsIn(document, resolve(document, $ref), `${path} ${$ref}`);
  const inner = Object.entries(node)
    .filter(([key]) => key !== 'examples')
    .flatMap(([key, each]) => objectsIn(document, each, `${path}/${key}`));
  return node['type'] === 'object' ? [[path, node], ...inner] : inner;
}

export function resolve(document: OpenApiDocument, ref: string): Json {
  const found = document.components.schemas[ref.replace('#/components/schemas/', '')];
  if (found === undefined) throw new Error(`${ref} leads nowhere`);
  return found;
}

/** Codes of errors that the document knows in another way than the list of errors does. */
export function codeFindings(document: OpenApiDocument): string[] {
  const properties = resolve(document, 'Problem')['properties'] as { code: { enum?: readonly string[] } };
  const codes = Object.keys(ERRORS).sort();
  const found =
    JSON.stringify([...(properties.code.enum ?? [])].sort()) === JSON.stringify(codes) ? [] : ['other codes exist'];
  for (const [name, { responses }] of documented(document)) {
    for (const [status, response] of Object.entries(responses)) {
      for (const each of response['x-codes'] ?? []) {
        if (String(ERRORS[each as keyof typeof ERRORS].status) !== status)
          found.push(`${name}: ${each} is no ${status}`);
      }
    }
  }
  return found;
}
