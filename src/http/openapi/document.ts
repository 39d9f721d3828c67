import type { Type } from '@nestjs/common';
import { ROLES } from '../../identity/caller.js';
import { Components, type SchemaObject } from './components.js';
import { EXAMPLES } from './examples.js';
import type { Operation } from './operation.js';
import { parametersOf } from './parameters.js';
import { responsesOf } from './responses.js';
import { routesOf, type Route } from './routes.js';
import { TAGS } from './tags.js';
import { usualRefusals } from './usual-refusals.js';

export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: SchemaObject;
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, SchemaObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaObject>>;
    readonly securitySchemes: SchemaObject;
  };
}

/** Which document: the version of the product and where clients reach it. */
export interface Edition {
  readonly version: string;
  /** Without a slash at its end; null: wherever the document was read. */
  readonly publicUrl: string | null;
}

const SECURITY = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'A JWT of the issuer in the settings. Which of its roles an operation needs is in `x-roles`.',
  },
};

/** The OpenAPI 3.1 document of the routes of these controllers. */
export function buildDocument(controllers: readonly Type[], { version, publicUrl }: Edition): OpenApiDocument {
  const components = new Components(EXAMPLES);
  const paths: Record<string, Record<string, SchemaObject>> = {};
  for (const route of routesOf(controllers)) {
    if (route.operation === null) continue;
    paths[route.path] = { ...paths[route.path], [route.method]: describe(route, route.operation, components) };
  }
  const used = new Set(routesOf(controllers).map(({ operation }) => operation?.tag));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Countersign',
      version,
      summary: 'A policy-gated capability proxy with an approval ledger.',
      description:
        'Requests are strict: unknown fields, duplicate keys, integers beyond 2^53 and lone surrogates are refused. Every error is a problem (RFC 9457) with a stable `code`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl?.replace(/\/+$/, '') ?? '/' }],
    tags: Object.entries(TAGS)
      .filter(([name]) => used.has(name as keyof typeof TAGS))
      .map(([name, description]) => ({ name, description })),
    paths,
    components: { schemas: components.all(), securitySchemes: SECURITY },
  };
}

function describe(route: Route, operation: Operation, components: Components): SchemaObject {
  const { id, tag, summary, description, body, answers, refusals } = operation;
  const parameters = parametersOf(route.path, operation, components);
  const roles = route.access === 'public' ? [] : ROLES.filter((role) => route.access.includes(role));
  const codes = [...usualRefusals(route, operation), ...refusals];
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, whoMay(route.access, roles, operation)]
      .filter((part) => part !== undefined)
      .join('\n\n'),
    security: securityOf(route.access, operation),
    'x-roles': roles,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBody(components.schema(body)) }),
    responses: responsesOf(answers, codes, components),
  };
}

const requestBody = (schema: SchemaObject): SchemaObject => ({
  required: true,
  content: { 'application/json': { schema } },
});

function securityOf(access: Route['access'], { token }: Operation): readonly SchemaObject[] {
  if (access !== 'public') return [{ bearer: [] }];
  return token === 'optional' ? [{}, { bearer: [] }] : [];
}

function whoMay(access: Route['access'], roles: readonly string[], { token }: Operation): string {
  if (access === 'public') return token === 'optional' ? 'A token is optional.' : 'Open to everybody.';
  if (roles.length === ROLES.length) return 'Any role.';
  return `Roles: ${roles.map((role) => `\`${role}\``).join(', ')}.`;
}
