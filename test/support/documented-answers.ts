import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

/** An exchange as the client saw it. */
export interface Exchange {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  /** What was sent, parsed; undefined when nothing was, or bytes. */
  readonly sent: unknown;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Described {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

interface ResponseObject {
  readonly content?: Readonly<Record<string, object>>;
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly 'x-codes'?: readonly string[];
}

interface Found {
  readonly pointer: string;
  readonly operation: Described;
}

/** Headers that say nothing of the operation. */
const GENERAL = new Set(
  'connection keep-alive date content-type content-length transfer-encoding cache-control vary content-security-policy x-content-type-options referrer-policy'.split(
    ' ',
  ),
);

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Holds what a server answers against the API document that it serves. */
export class DocumentedAnswers {
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': DATE_TIME } });
  private readonly operations: readonly (Found & { readonly method: string; readonly path: RegExp })[];
  /** `METHOD template status` of everything that was held against the document. */
  readonly seen = new Set<string>();

  constructor(document: { readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>> }) {
    this.ajv.addSchema(document, 'document');
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
        pointer: `/paths/${path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method}`,
        operation: operation as Described,
      })),
    );
  }

  static async of(url: string): Promise<DocumentedAnswers> {
    const response = await fetch(`${url}/openapi.json`);
    return new DocumentedAnswers((await response.json()) as ConstructorParameters<typeof DocumentedAnswers>[0]);
  }

  /** What the document does not allow; nothing for a HEAD, which no operation is. */
  findings(exchange: Exchange): string[] {
    if (exchange.method === 'HEAD') return [];
    const { pathname, searchParams } = new URL(exchange.path, 'http://proxy');
    const found = this.operations.find(({ method, path }) => method === exchange.method && path.test(pathname));
    if (found === undefined) return this.beyondTheDocument(exchange);
    const response = found.operation.responses[exchange.status];
    if (response === undefined) return [`status ${exchange.status} is not in the document`];
    this.seen.add(`${found.pointer} ${exchange.status}`);
    const at = `${found.pointer}/responses/${exchange.status}`;
    return [
      ...this.bodyFindings(at, response, exchange),
      ...this.headerFindings(at, response, exchange.headers),
      ...(exchange.status < 300 ? this.requestFindings(found, exchange.sent, [...searchParams.keys()]) : []),
    ];
  }

  /** Paths and methods that do not exist are refused like everything else. */
  private beyondTheDocument({ status, text }: Exchange): string[] {
    if (status < 400) return [`answers ${status} and is no operation of the document`];
    return this.validate('/components/schemas/Problem', parsed(text));
  }

  private bodyFindings(at: string, response: ResponseObject, { headers, status, text }: Exchange): string[] {
    const type = (headers.get('content-type') ?? '').split(';')[0] ?? '';
    if (response.content?.[type] === undefined) return [`${type || 'no content'} is not in the document`];
    if (!type.endsWith('json')) return [];
    const body = parsed(text);
    const { code, status: own } = body as { code?: string; status?: number };
    const problem = type === 'application/problem+json';
    return [
      ...this.validate(`${at}/content/${type.replaceAll('/', '~1')}/schema`, body),
      ...(problem && !(response['x-codes'] ?? []).includes(String(code)) ? [`code ${String(code)} is not listed`] : []),
      ...(problem && own !== status ? ['the status in the problem is another'] : []),
    ];
  }

  private headerFindings(at: string, { headers: declared = {} }: ResponseObject, headers: Headers): string[] {
    const missing = Object.entries(declared).filter(([name, { required }]) => required === true && !headers.has(name));
    const names = new Map(Object.keys(declared).map((name) => [name.toLowerCase(), name]));
    return [
      ...missing.map(([name]) => `header ${name} is missing`),
      ...[...headers].flatMap(([name, value]) => {
        const known = names.get(name);
        if (known === undefined) return GENERAL.has(name) ? [] : [`header ${name} is not in the document`];
        return this.validate(`${at}/headers/${known}/schema`, value);
      }),
    ];
  }

  /** What the server took, the document must allow. */
  private requestFindings({ pointer, operation }: Found, sent: unknown, query: readonly string[]): string[] {
    const names = (operation.parameters ?? []).filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    const unknown = names.length === 0 ? [] : query.filter((name) => !names.includes(name));
    return [
      ...unknown.map((name) => `query parameter ${name} was taken`),
      ...(operation.requestBody === undefined || sent === undefined
        ? []
        : this.validate(`${pointer}/requestBody/content/application~1json/schema`, sent)),
    ];
  }

  private validate(pointer: string, value: unknown): string[] {
    const $ref = `document#${pointer.replaceAll('{', '%7B').replaceAll('}', '%7D')}`;
    const validator = (this.ajv.getSchema($ref) ?? this.ajv.compile({ $ref })) as ValidateFunction;
    if (validator(value)) return [];
    return (validator.errors ?? []).map(({ instancePath, message }) => `${instancePath || '(all)'} ${message ?? ''}`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

let served: Promise<DocumentedAnswers> | null = null;

/**
 * Throws when the document of the server at this address does not allow the exchange. The document is read once: it is
 * the same for every server of a build.
 */
export async function mustBeDocumented(url: string, exchange: Exchange): Promise<void> {
  served ??= DocumentedAnswers.of(url);
  served.catch(() => (served = null));
  const findings = (await served).findings(exchange);
  if (findings.length === 0) return;
  throw new Error(
    `${exchange.method} ${exchange.path}: ${exchange.status} is not as the API document says: ${findings.join('; ')}\n${exchange.text}`,
  );
}
