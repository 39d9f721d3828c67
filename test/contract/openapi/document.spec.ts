import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CONTROLLERS } from '../../../src/http/controllers.js';
import { buildDocument, type OpenApiDocument } from '../../../src/http/openapi/document.js';
import { routesOf } from '../../../src/http/openapi/routes.js';
import { missingBounds } from './bounds.js';
import { codeFindings, disagreements, documented, openObjects, resolve } from './document-findings.js';
import { registeredRoutes } from './registered-routes.js';

type Changeable = Record<string, unknown>;

const EDITION = { version: '1.2.3', publicUrl: 'https://proxy.example/base/' };
const routes = routesOf(CONTROLLERS);
const document = buildDocument(CONTROLLERS, EDITION);
let registered: readonly string[];

beforeAll(async () => {
  registered = await registeredRoutes(CONTROLLERS);
});

/** The document after somebody has changed it. */
function changed(change: (document: Changeable) => unknown): OpenApiDocument {
  const copy = structuredClone(document) as unknown as Changeable;
  change(copy);
  return copy as unknown as OpenApiDocument;
}

/** What lies there; a path that leads nowhere would make a change that is none. */
function at(document: Changeable, ...path: readonly (string | number)[]): Changeable {
  let here: unknown = document;
  for (const key of path) here = (here as Record<string | number, unknown>)[key];
  if (typeof here !== 'object' || here === null) throw new Error(`nothing at ${path.join('/')}`);
  return here as Changeable;
}

function sources(): { readonly file: string; readonly text: string }[] {
  const folder = fileURLToPath(new URL('../../../src/', import.meta.url));
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.spec.ts'))
    .map((file) => ({ file, text: readFileSync(folder + file, 'utf8') }));
}

const lint = async (source: OpenApiDocument) => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: JSON.stringify(source), absoluteRef: '/openapi.json', config });
  return problems.map(({ severity, ruleId, location }) => `${severity} ${ruleId} ${location[0]?.pointer ?? ''}`);
};

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
/** Its dynamic references, which ajv resolves to something else, say by default no more than this. */
const metaSchema = JSON.parse(
  readFileSync(new URL('../../vectors/openapi/schema-3.1.json', import.meta.url), 'utf8').replaceAll(
    '"$dynamicRef": "#meta"',
    '"$ref": "#/$defs/schema"',
  ),
) as object;

describe('the API document', () => {
  it('has every route that the server has, with its method and roles, and no other', () => {
    expect(registered.length).toBeGreaterThan(15);
    expect(disagreements(document, registered, routes)).toEqual([]);
  });

  it('is complete because nothing but controllers makes routes', () => {
    const makers = sources().filter(({ text }) => /\.route\(|\.(get|post|put|patch|delete|all)\(\s*['"`]\//.test(text));
    expect(makers.map(({ file }) => file)).toEqual([]);
  });

  it('is true because handlers read bodies, queries and headers by what their operation declares', () => {
    const others = sources()
      .filter(({ file }) => file.endsWith('.controller.ts'))
      .flatMap(({ file, text }) =>
        [
          ...text.matchAll(
            /readInput\((?![A-Z_]+\.(?:body|query),)|readHeaders\((?![A-Z_]+\.headers,)|@(?:Headers|Query|Body)\('(?!authorization')/g,
          ),
        ].map(([found]) => `${file}: ${found}`),
      );
    expect(others).toEqual([]);
  });

  it('closes every object of a request in which the server refuses unknown fields', () => {
    expect(openObjects(document)).toEqual([]);
  });

  it('knows every error code, and each under its own status', () => {
    expect(codeFindings(document)).toEqual([]);
  });

  it('shows every bound that the server holds a request against', () => {
    expect(routes.filter(({ operation }) => operation?.body !== undefined).length).toBeGreaterThan(3);
    expect(missingBounds(document, routes)).toEqual([]);
  });

  it('has examples for every request body, and all of its examples are valid', () => {
    const checker = new Ajv2020({
      strict: false,
      formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ },
    });
    checker.addSchema(document, 'document');
    let checked = 0;
    for (const [id, { examples }] of Object.entries(document.components.schemas)) {
      for (const example of (examples ?? []) as readonly unknown[]) {
        const valid = checker.validate({ $ref: `document#/components/schemas/${id}` }, example);
        expect([id, valid, checker.errors]).toEqual([id, true, null]);
        checked += 1;
      }
    }
    expect(checked).toBeGreaterThan(10);
    for (const [name, { requestBody }] of documented(document)) {
      const ref = /#\/components\/schemas\/\w+/.exec(JSON.stringify(requestBody ?? {}))?.[0];
      if (requestBody !== undefined)
        expect([name, resolve(document, ref ?? '')['examples']]).toEqual([name, expect.anything()]);
    }
  });

  it('is a valid OpenAPI 3.1 document, and each of its schemas one of JSON Schema 2020-12', () => {
    expect([ajv.validate(metaSchema, document), ajv.errors]).toEqual([true, null]);
    for (const [id, schema] of Object.entries(document.components.schemas)) {
      expect([id, ajv.validateSchema(schema)]).toEqual([id, true]);
    }
  });

  it('has no error to an official linter, and its only warnings are that open pages refuse nobody', async () => {
    const open = [...documented(document)].filter(
      ([, { responses }]) => !Object.keys(responses).some((status) => status.startsWith('4')),
    );
    expect(open.filter(([, operation]) => operation['x-roles']?.length !== 0)).toEqual([]);
    const expected = open.map(
      ([name]) =>
        `warn operation-4xx-response #/paths/${name.split(' ')[1]?.replaceAll('/', '~1') ?? ''}/get/responses`,
    );
    expect(await lint(document)).toEqual(expected);
  });

  it('names the version, and the address that clients use', () => {
    expect(document.info['version']).toBe('1.2.3');
    expect(document.servers).toEqual([{ url: 'https://proxy.example/base' }]);
    expect(buildDocument(CONTROLLERS, { version: '1', publicUrl: null }).servers).toEqual([{ url: '/' }]);
  });
});

describe('a document that somebody changed', () => {
  const CALLS = '/v1/tool-calls';
  const proposal = (whole: Changeable): Changeable => at(whole, 'paths', CALLS, 'post');

  it.each<[string, (document: Changeable) => unknown, string]>([
    ['lacks a path', (whole) => delete at(whole, 'paths')['/v1/events'], 'GET /v1/events is not in the document'],
    [
      'lacks a method',
      (whole) => delete at(whole, 'paths', CALLS)['post'],
      'POST /v1/tool-calls is not in the document',
    ],
    [
      'has a route of its own',
      (whole) => (at(whole, 'paths')['/v1/x'] = { get: { responses: {} } }),
      'GET /v1/x is no route',
    ],
    [
      'lets another role in',
      (whole) => (proposal(whole)['x-roles'] = ['harness', 'auditor']),
      'POST /v1/tool-calls has other roles',
    ],
    [
      'makes a token optional',
      (whole) => (proposal(whole)['security'] = [{}, { bearer: [] }]),
      'POST /v1/tool-calls is guarded',
    ],
    [
      'lets an open page ask for a token',
      (whole) => (at(whole, 'paths', '/healthz', 'get', 'responses')['401'] = {}),
      'GET /healthz has a wrong 401',
    ],
    ['says a route is open', (whole) => (proposal(whole)['security'] = []), 'POST /v1/tool-calls is guarded'],
    [
      'forgets a refusal',
      (whole) => delete at(proposal(whole), 'responses')['401'],
      'POST /v1/tool-calls has a wrong 401',
    ],
    [
      'uses an operationId twice',
      (whole) => (proposal(whole)['operationId'] = 'listToolCalls'),
      'two operations have one operationId',
    ],
  ])('is found out when it %s', (_, change, finding) => {
    expect(disagreements(changed(change), registered, routes)).toContain(finding);
  });

  it('is found out when a request would take any field', () => {
    const open = changed((whole) => {
      delete at(whole, 'components', 'schemas', 'ApprovalDecision')['additionalProperties'];
    });
    expect(openObjects(open)).toHaveLength(1);
  });

  it('is found out when it loses a bound, of a body or of a parameter', () => {
    const boundless = changed((whole) => {
      delete at(whole, 'components', 'schemas', 'ProposeToolCall', 'properties', 'capability')['maxLength'];
      delete at(whole, 'paths', '/v1/events', 'get', 'parameters', 0, 'schema')['pattern'];
    });
    const findings = missingBounds(boundless, routes);
    expect(findings).toHaveLength(2);
    expect(findings).toContain('POST /v1/tool-calls: /capability maxLength 128');
    expect(findings).toContainEqual(expect.stringMatching(/^GET \/v1\/events: \/after pattern /));
  });

  it('is found out when it forgets or misplaces an error code', () => {
    const code = ['components', 'schemas', 'Problem', 'properties', 'code'];
    const forgetful = changed((whole) => (at(whole, ...code)['enum'] = ['internal']));
    expect(codeFindings(forgetful)).toEqual(['other codes exist']);
    const misplaced = changed((whole) => (at(proposal(whole), 'responses', '400')['x-codes'] = ['paused']));
    expect(codeFindings(misplaced)).toEqual(['POST /v1/tool-calls: paused is no 400']);
  });

  it('is found out by the linter and the schema of OpenAPI', async () => {
    const leadsNowhere = changed((whole) => {
      at(proposal(whole), 'requestBody', 'content', 'application/json')['schema'] = { $ref: '#/components/schemas/No' };
    });
    expect((await lint(leadsNowhere)).filter((line) => line.startsWith('error'))).not.toEqual([]);
    const nameless = changed((whole) => delete whole['info']);
    expect(ajv.validate(metaSchema, nameless)).toBe(false);
  });
});
