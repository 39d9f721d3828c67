import { isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, parseDocument } from 'yaml';
import type { Node, Pair, Scalar } from 'yaml';
import type { JsonValue } from '../domain/json/json-value.js';
import { pointerFrom } from '../domain/json/json-pointer.js';
import { isWellFormed } from '../domain/text/well-formed.js';
import type { ManifestProblem } from './manifest-problem.js';

export const MANIFEST_BYTES_MAX = 262_144;

/** The YAML parser recurses once per level and its own checks grow with depth, so depth is bounded before it sees the text. */
const FLOW_DEPTH_MAX = 64;
const INDENT_MAX = 200;
const BLOCK_STARTS_PER_LINE_MAX = 32;

const PROBLEMS_MAX = 50;

export type YamlReading =
  | { readonly ok: true; readonly value: JsonValue; readonly lineOf: (pointer: string) => number | null }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] };

interface Reader {
  readonly problems: ManifestProblem[];
  readonly lines: Map<string, number>;
  readonly lineAt: (offset: number | undefined) => number | null;
}

/**
 * Reads one YAML 1.2 document (core schema) as JSON and as nothing else. Refused: anchors, aliases and tags, repeated keys, more than
 * one document, integers beyond 2^53, numbers that are not finite, half surrogate pairs, `__proto__` as a key, and texts too large or too
 * deep. Merge keys (`<<`) are ordinary keys here, and nothing turns `yes` or a date into something other than text.
 */
export function readManifestYaml(text: string): YamlReading {
  const refusal = refusalBeforeParsing(text);
  if (refusal !== null) return { ok: false, problems: [{ pointer: '', ...refusal }] };
  const lineCounter = new LineCounter();
  // Repeated keys are found below in linear time; the parser's own check compares every key with every other.
  const document = parseDocument(text, {
    version: '1.2',
    schema: 'core',
    merge: false,
    intAsBigInt: true,
    uniqueKeys: false,
    stringKeys: true,
    prettyErrors: false,
    // With `silent` the parser says nothing about further documents either.
    logLevel: 'error',
    lineCounter,
  });
  const lineAt = (offset: number | undefined): number | null =>
    offset === undefined ? null : lineCounter.linePos(offset).line || null;
  const faults = [...document.errors, ...document.warnings].slice(0, PROBLEMS_MAX);
  if (faults.length > 0) {
    const problems = faults.map((fault) => ({
      pointer: '',
      message: `YAML: ${fault.message}`,
      line: lineAt(fault.pos[0]),
    }));
    return { ok: false, problems };
  }
  const reader: Reader = { problems: [], lines: new Map(), lineAt };
  const value = readNode(document.contents, [], reader);
  if (reader.problems.length > 0) return { ok: false, problems: reader.problems.slice(0, PROBLEMS_MAX) };
  return { ok: true, value, lineOf: (pointer) => nearestLine(pointer, reader.lines) };
}

function refusalBeforeParsing(text: string): { message: string; line: number | null } | null {
  if (Buffer.byteLength(text) > MANIFEST_BYTES_MAX) {
    return { message: `a manifest has at most ${MANIFEST_BYTES_MAX} bytes`, line: null };
  }
  if (!isWellFormed(text)) return { message: 'the text holds half of a surrogate pair', line: null };
  const line = firstLineTooDeep(text);
  return line === null ? null : { message: 'nested too deep: use fewer levels of lists and maps', line };
}

function firstLineTooDeep(text: string): number | null {
  let line = 1;
  let depth = 0;
  let blockStarts = 0;
  const indented = text
    .split('\n')
    .findIndex((row) => row.length > INDENT_MAX && row.slice(0, INDENT_MAX).trim() === '');
  if (indented !== -1) return indented + 1;
  for (const token of new Lexer().lex(text)) {
    if (token.includes('\n')) {
      line += token.split('\n').length - 1;
      blockStarts = 0;
    } else if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    else if (token === '-' || token === '?') blockStarts += 1;
    if (depth > FLOW_DEPTH_MAX || blockStarts > BLOCK_STARTS_PER_LINE_MAX) return line;
  }
  return null;
}

function readNode(node: Node | null, path: readonly (string | number)[], reader: Reader): JsonValue {
  const line = reader.lineAt(node?.range?.[0]);
  const pointer = pointerFrom(path);
  if (line !== null && !reader.lines.has(pointer)) reader.lines.set(pointer, line);
  const refuse = (message: string): null => {
    reader.problems.push({ pointer, message, line });
    return null;
  };
  if (node === null) return null;
  if (isAlias(node)) return refuse('aliases are not allowed: write the value out');
  if ((node as { anchor?: string }).anchor !== undefined) return refuse('anchors are not allowed: write the value out');
  if (node.tag !== undefined) return refuse('tags are not allowed: only plain YAML is read');
  if (isSeq<Node>(node)) return node.items.map((item, index) => readNode(item, [...path, index], reader));
  if (isMap<Scalar, Node | null>(node)) return readMap(node.items, path, reader);
  if (isScalar(node)) return readScalar(node.value, refuse);
  return refuse('not a value that JSON can hold');
}

function readMap(
  pairs: readonly Pair<Scalar, Node | null>[],
  path: readonly (string | number)[],
  reader: Reader,
): JsonValue {
  const members = new Map<string, JsonValue>();
  for (const { key, value } of pairs) {
    const name = String(key.value);
    const here = [...path, name];
    const line = reader.lineAt(key.range?.[0]);
    if (line !== null) reader.lines.set(pointerFrom(here), line);
    if (name === '__proto__') {
      reader.problems.push({ pointer: pointerFrom(here), message: '`__proto__` cannot be a key', line });
    } else if (members.has(name)) {
      reader.problems.push({ pointer: pointerFrom(here), message: 'this key is written twice', line });
    } else {
      members.set(name, readNode(value, here, reader));
    }
  }
  return Object.fromEntries(members);
}

function readScalar(value: unknown, refuse: (message: string) => null): JsonValue {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number)
      ? number
      : refuse('integers beyond 2^53 are not exact: quote it to make it text');
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) return refuse('numbers must be finite');
    return value === 0 ? 0 : value;
  }
  if (typeof value === 'string') return isWellFormed(value) ? value : refuse('the text holds half of a surrogate pair');
  if (typeof value === 'boolean' || value === null) return value;
  return refuse('not a value that JSON can hold');
}

/** The line of the place or, where a key is missing, of the nearest place around it. */
function nearestLine(pointer: string, lines: ReadonlyMap<string, number>): number | null {
  let at = pointer;
  while (!lines.has(at) && at !== '') at = at.slice(0, at.lastIndexOf('/'));
  return lines.get(at) ?? null;
}
