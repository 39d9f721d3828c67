import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CONTROLLERS } from '../../src/http/controllers.js';
import { buildDocument, type OpenApiDocument } from '../../src/http/openapi/document.js';
import { PRODUCT_VERSION } from '../../src/system/product-version.js';
import { DocumentedAnswers, type Exchange } from '../support/documented-answers.js';
import { OpenStream } from '../support/event-stream.js';
import { expectProblem, type Client } from '../support/http-client.js';
import { CAST, Stack } from '../support/stack.js';
import { until } from '../support/until.js';

const PUBLIC_URL = 'https://proxy.example';

let stack: Stack;
let open: Client;
let document: OpenApiDocument;

beforeAll(async () => {
  stack = await Stack.start({ env: { COUNTERSIGN_INSTALLATION__PUBLIC_URL: PUBLIC_URL } });
  open = stack.withToken(null);
  document = (await open.get<OpenApiDocument>('/openapi.json')).body;
});
afterAll(() => stack.destroy());

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly example?: string;
}

interface Described {
  readonly requestBody?: object;
  readonly parameters?: readonly Parameter[];
  readonly 'x-roles': readonly string[];
}

/** Every operation, as something that can be sent. */
function operations(): { method: string; path: string; described: Described }[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, described]) => ({
      method: method.toUpperCase(),
      path: path.replace(/\{\w+\}/g, 'x'),
      described: described as unknown as Described,
    })),
  );
}

describe('the document that is served', () => {
  it('needs no token, and is that of this build and installation', () => {
    const edition = { version: PRODUCT_VERSION, publicUrl: PUBLIC_URL };
    expect(document).toEqual(JSON.parse(JSON.stringify(buildDocument(CONTROLLERS, edition))));
    expect(document.openapi).toBe('3.1.1');
  });

  it('says of every operation that takes a body or a query that unknown fields are refused, and so it is', async () => {
    let asked = 0;
    for (const { method, path, described } of operations()) {
      const role = described['x-roles'][0] ?? 'operator';
      const client = await stack.as(role === 'harness' ? CAST.harness : { sub: 'olga', roles: [role] });
      if (described.requestBody !== undefined) {
        const refused = expectProblem(await client.send(method, path, { nobodyKnows: 1 }), 'invalid_request');
        expect([path, refused.problems]).toEqual([path, expect.anything()]);
        asked += 1;
      }
      if (described.parameters?.some((parameter) => parameter.in === 'query') === true) {
        expectProblem(await client.send(method, `${path}?nobodyKnows=1`), 'invalid_request');
        asked += 1;
      }
    }
    expect(asked).toBeGreaterThan(7);
  });
});

describe('the browser', () => {
  it('is a page of our own files only, without a script in the page', async () => {
    const page = await open.get<string>('/docs');
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(page.text).not.toMatch(/<script(?! src="docs\/[\w.-]+">)|\son\w+=|https?:\/\//);
    const files = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file);
    expect(files).toHaveLength(4);
    for (const file of files) {
      const answer = await open.get(`/${file}`);
      expect([file, answer.status, answer.headers.get('x-content-type-options')]).toEqual([file, 200, 'nosniff']);
      expect(answer.text.length).toBeGreaterThan(100);
    }
  });

  it.each([
    '../package.json',
    '..%2fpackage.json',
    '..%2f..%2fpackage.json',
    '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
    'swagger-ui.css%00.js',
    'package.json',
    'index.html',
    'absolute-path.js',
    'constructor',
    '__proto__',
  ])('has no file %s', async (name) => {
    const { hostname, port } = new URL(stack.proxy.url);
    // Sent as it is: a client that tidies paths would never send it.
    const status = await new Promise((resolve, reject) => {
      request({ host: hostname, port, path: `/docs/${name}` }, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .on('error', reject)
        .end();
    });
    expect(status).toBe(404);
  });
});

describe('the answers of the server', () => {
  it('are held against the document: what differs in anything is found', async () => {
    const answers = new DocumentedAnswers(document as never);
    const harness = await stack.as(CAST.harness);
    const body = { capability: 'order.read', arguments: { orderId: 'ord_1001' } };
    const { status, headers, text } = await harness.post('/v1/tool-calls', body, { headers: { prefer: 'wait=10' } });
    const real: Exchange = { method: 'POST', path: '/v1/tool-calls', sent: body, status, headers, text };
    expect(answers.findings(real)).toEqual([]);
    const without = (name: string): Headers => {
      const rest = new Headers(headers);
      rest.delete(name);
      return rest;
    };
    const call = JSON.parse(text) as Record<string, unknown>;
    const { guidance: _, ...lacking } = call;
    const wrong: readonly [Partial<Exchange>, RegExp][] = [
      [{ text: JSON.stringify({ ...call, more: 1 }) }, /additional properties/],
      [{ text: JSON.stringify(lacking) }, /guidance/],
      [{ text: JSON.stringify({ ...call, status: 'done' }) }, /status must be equal to one of/],
      [{ text: JSON.stringify({ ...call, createdAt: 'today' }) }, /createdAt must match format/],
      [{ text: JSON.stringify({ ...call, attempt: 1.5 }) }, /attempt must be integer/],
      [{ status: 201 }, /status 201/],
      [{ headers: without('location') }, /Location is missing/],
      [{ headers: new Headers([...headers, ['x-surprise', '1']]) }, /x-surprise/],
      [{ headers: new Headers([...without('content-type'), ['content-type', 'text/html']]) }, /text\/html/],
      [{ sent: { ...body, more: 1 } }, /additional properties/],
      [{ method: 'PUT' }, /no operation/],
    ];
    for (const [change, finding] of wrong) {
      expect(answers.findings({ ...real, ...change }).join('; ')).toMatch(finding);
    }
  });

  it('are problems with a code that the operation lists: another one is found', async () => {
    const answers = new DocumentedAnswers(document as never);
    const operator = await stack.as(CAST.operator);
    const { status, headers, text } = await operator.get('/v1/runs/run_none');
    const real: Exchange = { method: 'GET', path: '/v1/runs/run_none', sent: undefined, status, headers, text };
    expect(answers.findings(real)).toEqual([]);
    expect(answers.findings({ ...real, text: text.replace('"run_not_found"', '"approval_not_found"') })).toEqual([
      'code approval_not_found is not listed',
    ]);
    expect(answers.findings({ ...real, text: text.replace('"run_not_found"', '"no_such_code"') })).toHaveLength(2);
  });

  it('of a stream of events are events as the document says', async () => {
    const answers = new DocumentedAnswers(document as never);
    const stream = await OpenStream.open(stack.proxy.url, await stack.token(CAST.operator));
    const harness = await stack.as(CAST.harness);
    await harness.propose('order.read', { orderId: 'ord_1001' });
    await until(
      'a call on the stream',
      async () => stream.events,
      (events) => events.some(({ type }) => type === 'tool.call.completed'),
    );
    const { response, events } = stream;
    const exchange = { method: 'GET', path: '/v1/events', sent: undefined, status: 200, text: '' };
    const type = new Headers({ 'content-type': response.headers.get('content-type') ?? '' });
    expect(answers.findings({ ...exchange, headers: type })).toEqual([]);
    const page = { items: events.map(({ data }) => data), nextAfter: 0, head: 0 };
    const json = new Headers({ 'content-type': 'application/json' });
    expect(answers.findings({ ...exchange, headers: json, text: JSON.stringify(page) })).toEqual([]);
    await stream.cut();
  });
});
