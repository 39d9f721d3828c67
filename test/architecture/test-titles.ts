import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

/** Titles of tests by whether something keeps them from running or keeps others from running: skip, only, todo. */
export interface Titles {
  readonly running: ReadonlySet<string>;
  readonly held: ReadonlySet<string>;
}

const BLOCKS = new Set(['describe', 'fdescribe', 'xdescribe']);
const TESTS = new Set(['it', 'test', 'fit', 'xit', 'xtest']);
const HOLDS = /\b(?:skip|only|todo|failing)\b|^(?:f|x)(?:it|test|describe)\b/u;

/** The titles of every spec and every contract suite below `src` and `test`. */
export function titlesBelow(root: string): Titles {
  const running = new Set<string>();
  const held = new Set<string>();
  for (const folder of ['src', 'test']) {
    for (const name of readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!name.endsWith('.ts')) continue;
      const found = titlesOf(readFileSync(path.join(root, folder, name), 'utf8'));
      for (const title of found.running) running.add(title);
      for (const title of found.held) held.add(title);
    }
  }
  return { running, held };
}

/** The titles in one source text. A title counts as held wherever it is held once: its other place may be gone tomorrow. */
export function titlesOf(text: string): Titles {
  const source = ts.createSourceFile('spec.ts', text, ts.ScriptTarget.ES2022, true);
  const running = new Set<string>();
  const held = new Set<string>();
  const visit = (node: ts.Node, isHeld: boolean): void => {
    const call = ts.isCallExpression(node) ? testCall(node) : null;
    const holds = isHeld || (call !== null && HOLDS.test(call.callee));
    if (call !== null && TESTS.has(call.name)) (holds ? held : running).add(call.title);
    ts.forEachChild(node, (child) => visit(child, holds));
  };
  visit(source, false);
  return { running, held };
}

interface TestCall {
  readonly name: string;
  readonly callee: string;
  readonly title: string;
}

/** `it('…')`, `it.each(…)('…')`, `describe.skip('…')`, `(canTrace ? it : it.skip)('…')`. */
function testCall(node: ts.CallExpression): TestCall | null {
  const [first] = node.arguments;
  if (first === undefined || !ts.isStringLiteralLike(first)) return null;
  const called = ts.isCallExpression(node.expression) ? node.expression.expression : node.expression;
  const callee = withoutConditions(called);
  const name = /^[a-z]+/u.exec(callee)?.[0] ?? '';
  return TESTS.has(name) || BLOCKS.has(name) ? { name, callee, title: first.text } : null;
}

/** A test that runs wherever the machine lets it counts as one that runs: its suite says aloud when it cannot. */
function withoutConditions(called: ts.Expression): string {
  const [base, ...rest] = called.getText().split(/(?<=\))\./u);
  const conditional = /^\([^?]+\? (it|describe) : \1\.skip\)$/u.exec(base ?? '');
  return conditional === null ? called.getText() : [conditional[1], ...rest].join('.');
}
