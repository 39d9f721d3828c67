import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript';

/** `rule: src/folder/file.ts: what was found`, one line per finding; an empty list is a source that keeps every rule. */
export async function findingsIn(root: string, folder = 'src'): Promise<string[]> {
  const names = await readdir(path.join(root, folder), { recursive: true });
  const files = names.filter((name) => name.endsWith('.ts')).map((name) => path.posix.join(folder, name));
  const found = await Promise.all(
    files.toSorted().map(async (file) => findingsOf(file, await readFile(path.join(root, file), 'utf8'))),
  );
  return found.flat();
}

/** The same for one file; `file` is its path from the repository's root. */
export function findingsOf(file: string, text: string): string[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2022, true);
  const found = [...nameFindings(file), ...barrelFindings(file, source)];
  const visit = (node: ts.Node): void => {
    for (const check of NODE_CHECKS) {
      const finding = check(node, file);
      if (finding !== undefined) found.push(finding);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found.map((finding) => finding.replace(': ', `: ${file}: `));
}

type NodeCheck = (node: ts.Node, file: string) => string | undefined;

const DRAWERS = /(?:^|-)(?:utils?|helpers?|common|shared|data|info|managers?)$/u;
const KEBAB = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/u;
const PURE = /^src\/(?:domain|[^/]+\/core)\//u;
const SPEC = /\.spec\.ts$/u;

const NODE_CHECKS: readonly NodeCheck[] = [
  defaultExport,
  environmentRead,
  forwardReference,
  hiddenClock,
  bareTimer,
  baseClass,
  crowdedConstructor,
  synchronisedSchema,
];

function nameFindings(file: string): string[] {
  const segments = file.replace(/\.ts$/u, '').split('/');
  return segments.flatMap((segment) => [
    ...(segment.split('.').some((word) => DRAWERS.test(word)) ? [`drawer: ${segment}`] : []),
    ...(KEBAB.test(segment) ? [] : [`kebab-case: ${segment}`]),
  ]);
}

function barrelFindings(file: string, source: ts.SourceFile): string[] {
  if (file === 'src/client/index.ts') return [];
  if (path.posix.basename(file) === 'index.ts') return ['barrel: index.ts'];
  const forwards = source.statements.filter((s) => ts.isExportDeclaration(s) && s.moduleSpecifier !== undefined);
  return forwards.length > 0 && forwards.length === source.statements.length ? ['barrel: only re-exports'] : [];
}

function defaultExport(node: ts.Node): string | undefined {
  const modifiers = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : [];
  const isDefault =
    ts.isExportAssignment(node) ||
    modifiers.some((modifier) => modifier.kind === ts.SyntaxKind.DefaultKeyword) ||
    (ts.isExportSpecifier(node) && node.name.text === 'default');
  return isDefault ? 'default-export: export default' : undefined;
}

function environmentRead(node: ts.Node, file: string): string | undefined {
  if (file.startsWith('src/config/') || SPEC.test(file)) return undefined;
  const member = ts.isPropertyAccessExpression(node)
    ? node.name.text
    : ts.isElementAccessExpression(node) && ts.isStringLiteralLike(node.argumentExpression)
      ? node.argumentExpression.text
      : undefined;
  const ofProcess =
    member === 'env' &&
    (ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node)) &&
    node.expression.getText() === 'process';
  const imported =
    ts.isImportSpecifier(node) &&
    (node.propertyName ?? node.name).text === 'env' &&
    /^['"](?:node:)?process['"]$/u.test(node.parent.parent.parent.moduleSpecifier.getText());
  const taken =
    ts.isBindingElement(node) && (node.propertyName ?? node.name).getText() === 'env' && isFromProcess(node);
  return ofProcess || imported || taken ? 'environment: process.env outside config/' : undefined;
}

/** `const { env } = process` */
function isFromProcess(element: ts.BindingElement): boolean {
  const declaration = element.parent.parent;
  return ts.isVariableDeclaration(declaration) && declaration.initializer?.getText() === 'process';
}

function forwardReference(node: ts.Node): string | undefined {
  return ts.isIdentifier(node) && node.text === 'forwardRef' ? 'forward-ref: forwardRef' : undefined;
}

/** `new Date()` without an argument, and `Date()`: the clock that the linter's ban of Date.now does not see. */
function hiddenClock(node: ts.Node, file: string): string | undefined {
  if (!PURE.test(file) || SPEC.test(file)) return undefined;
  if (!ts.isNewExpression(node) && !ts.isCallExpression(node)) return undefined;
  return node.expression.getText() === 'Date' && (node.arguments?.length ?? 0) === 0
    ? 'hidden-clock: Date without an argument'
    : undefined;
}

/**
 * Timers come from `system/timers.ts`, where a long time does not overflow. Two folders with threads of their own use Node's:
 * their delays are settings of a few minutes at most.
 */
function bareTimer(node: ts.Node, file: string): string | undefined {
  const exempt = /^src\/(?:system\/timers\.ts$|policy\/engine\/|storage\/sqlite\/)/u;
  if (!file.startsWith('src/') || SPEC.test(file) || exempt.test(file)) return undefined;
  const isImported =
    ts.isImportSpecifier(node) && node.parent.parent.parent.moduleSpecifier.getText().includes('node:timers');
  const name = isImported
    ? (node.propertyName ?? node.name).text
    : ts.isCallExpression(node)
      ? node.expression.getText()
      : '';
  return /^(?:global(?:This)?\.)?set(?:Timeout|Interval)$/u.test(name) ? `bare-timer: ${name}` : undefined;
}

function baseClass(node: ts.Node): string | undefined {
  if (!ts.isClassDeclaration(node)) return undefined;
  const name = node.name?.text ?? '';
  return /^(?:Base|Abstract)[A-Z]|Base$/u.test(name) ? `base-class: ${name}` : undefined;
}

function crowdedConstructor(node: ts.Node): string | undefined {
  return ts.isConstructorDeclaration(node) && node.parameters.length > 5
    ? `constructor: ${node.parameters.length} parameters, at most 5`
    : undefined;
}

/** TypeORM would change the schema of a live database; migrations do that. */
function synchronisedSchema(node: ts.Node): string | undefined {
  return ts.isPropertyAssignment(node) &&
    node.name.getText() === 'synchronize' &&
    node.initializer.kind !== ts.SyntaxKind.FalseKeyword
    ? 'synchronize: must be false'
    : undefined;
}
