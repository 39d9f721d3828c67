/** What a `{…}` in a manifest stands for. */
export type Placeholder =
  | { readonly kind: 'all_arguments' }
  | { readonly kind: 'argument'; readonly path: readonly string[] }
  | { readonly kind: 'downstreamKey' | 'externalRequestId' | 'intentId' };

export type TemplatePart = string | Placeholder;

export type ParsedTemplate =
  { readonly ok: true; readonly parts: readonly TemplatePart[] } | { readonly ok: false; readonly message: string };

/** Doubled braces are literal braces; what is left between single braces is a placeholder; a brace that fits neither is a mistake. */
const TOKEN = /\{\{|\}\}|\{([^{}]*)\}|[{}]|[^{}]+/g;

const NAMES = { downstreamKey: 0, externalRequestId: 0, intentId: 0 } as const;

const ARGUMENT = /^args((?:\.[A-Za-z0-9_-]{1,128}){1,16})$/;

/**
 * Splits a template such as `/v1/orders/{args.orderId}` into literal text and placeholders: `{args}`, `{args.name}`, `{args.outer.inner}`,
 * `{downstreamKey}`, `{externalRequestId}`, `{intentId}`. `{{` and `}}` stand for braces. Adjacent literals are joined; no part is empty.
 */
export function parseTemplate(text: string): ParsedTemplate {
  const parts: TemplatePart[] = [];
  for (const [token, inside] of text.matchAll(TOKEN)) {
    if (inside !== undefined) {
      const placeholder = placeholderNamed(inside);
      if (placeholder === null) return { ok: false, message: unknownPlaceholder };
      parts.push(placeholder);
    } else {
      const literal = literalOf(token);
      if (literal === null)
        return { ok: false, message: 'a single brace: write `{{` or `}}` for a brace that is meant' };
      const last = parts.at(-1);
      if (typeof last === 'string') parts[parts.length - 1] = last + literal;
      else parts.push(literal);
    }
  }
  return { ok: true, parts };
}

const unknownPlaceholder =
  'unknown placeholder: use {args}, {args.name}, {downstreamKey}, {externalRequestId} or {intentId}, and `{{` for a brace that is meant';

function placeholderNamed(inside: string): Placeholder | null {
  if (inside === 'args') return { kind: 'all_arguments' };
  if (Object.hasOwn(NAMES, inside)) return { kind: inside as keyof typeof NAMES };
  const path = ARGUMENT.exec(inside)?.[1];
  return path === undefined ? null : { kind: 'argument', path: path.slice(1).split('.') };
}

function literalOf(token: string): string | null {
  if (token === '{{') return '{';
  if (token === '}}') return '}';
  return token === '{' || token === '}' ? null : token;
}

/** The parts of a template of a manifest in force: registration has refused every other. Throws a plain `Error` on one that is broken. */
export function templateParts(text: string): readonly TemplatePart[] {
  const known = PARTS.get(text);
  if (known !== undefined) return known;
  const parsed = parseTemplate(text);
  if (!parsed.ok) throw new Error('a template of a registered manifest does not parse');
  if (PARTS.size < PARTS_MAX) PARTS.set(text, parsed.parts);
  return parsed.parts;
}

/** Parsed once: there are as many as the manifests have texts, and a request needs a dozen of them. */
const PARTS = new Map<string, readonly TemplatePart[]>();
const PARTS_MAX = 20_000;

/** The placeholder that is the whole text, or null when there is anything else in it. */
export function soleToken(parts: readonly TemplatePart[]): Placeholder | null {
  const [first] = parts;
  return parts.length === 1 && typeof first === 'object' ? first : null;
}

/** As `{…}`, for messages and for places where the value must not or cannot be shown. */
export function placeholderText(placeholder: Placeholder): string {
  switch (placeholder.kind) {
    case 'all_arguments':
      return '{args}';
    case 'argument':
      return `{args.${placeholder.path.join('.')}}`;
    case 'downstreamKey':
    case 'externalRequestId':
    case 'intentId':
      return `{${placeholder.kind}}`;
  }
}
