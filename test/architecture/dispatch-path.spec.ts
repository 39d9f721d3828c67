import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import type { Use } from '../../src/proxy/connectors/http.connector.js';
import type { ToolCallIdentity } from '../../src/domain/tool-call/tool-call.state.js';
import { repository } from './fixture-tree.js';

const CONNECTOR = 'src/proxy/connectors/http.connector.ts';
const STATE = 'src/domain/tool-call/tool-call.state.ts';

const sourceOf = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, readFileSync(path.join(repository, file), 'utf8'), ts.ScriptTarget.ES2022, true);

/** Every program file, without its specs. */
function programFiles(): string[] {
  return readdirSync(path.join(repository, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.spec.ts'))
    .map((name) => `src/${name}`);
}

/** Who names the class of the connector as a value or as the type of a parameter, and so can use one. */
const holdersOf = (name: string): string[] =>
  programFiles()
    .filter((file) => file !== CONNECTOR)
    .filter((file) => new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\}`, 'u').test(sourceOf(file).text));

/** The holders of a connector that use a method of that name, whatever they call the connector. */
const usersOf = (method: string): string[] =>
  holdersOf('HttpConnector').filter((file) => {
    let used = false;
    const visit = (node: ts.Node): void => {
      used ||= (ts.isIdentifier(node) || ts.isStringLiteralLike(node)) && node.text === method;
      ts.forEachChild(node, visit);
    };
    visit(sourceOf(file));
    return used;
  });

/** A member of an interface as it is written. */
function memberOf(file: string, name: string, member: string): string | undefined {
  const declared = sourceOf(file).statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name);
  if (declared === undefined || !ts.isInterfaceDeclaration(declared)) return undefined;
  return declared.members.find((one) => one.name?.getText() === member)?.getText();
}

describe('The way out of the proxy', () => {
  it('has no door without the key of a call: the type demands it, and one place sends', () => {
    expect(memberOf(CONNECTOR, 'Use', 'downstreamKey')).toBe('readonly downstreamKey: string;');
    expect(memberOf(STATE, 'ToolCallIdentity', 'downstreamKey')).toBe('readonly downstreamKey: string;');
    expect(usersOf('carryOut')).toEqual(['src/proxy/executor/attempt.ts']);
    expect(sourceOf('src/proxy/executor/attempt.ts').text).toContain('downstreamKey: call.state.downstreamKey');
  });

  it('does not compile for a request or a call that names no key', () => {
    const use = { args: {}, externalRequestId: null, deadline: 0 };
    // @ts-expect-error a request to a tool names the key of its call
    const nameless: Use = use;
    const { downstreamKey: _, ...identity } = { downstreamKey: 'cs_1' } as ToolCallIdentity;
    // @ts-expect-error a call has its key from its proposal on
    const keyless: ToolCallIdentity = identity;
    expect([nameless, keyless]).toEqual([use, {}]);
  });
});
