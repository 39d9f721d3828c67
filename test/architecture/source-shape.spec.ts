import { describe, expect, it } from '@jest/globals';
import { repository } from './fixture-tree.js';
import { findingsIn, findingsOf } from './source-shape.js';

const CLASS_OF_SIX = 'export class A { constructor(a: 1, b: 1, c: 1, d: 1, e: 1, f: 1) {} }';

describe('The shape of the source', () => {
  it('is kept by every file in src/', async () => {
    expect(await findingsIn(repository)).toEqual([]);
  });

  it.each([
    ['a barrel by its name', 'src/http/index.ts', 'export const a = 1;', 'barrel: src/http/index.ts: index.ts'],
    [
      'a barrel by another name',
      'src/http/all.ts',
      "export * from './a.js';",
      'barrel: src/http/all.ts: only re-exports',
    ],
    [
      'a default function',
      'src/http/a.ts',
      'export default function f() {}',
      'default-export: src/http/a.ts: export default',
    ],
    ['a default value', 'src/http/a.ts', 'export default 1;', 'default-export: src/http/a.ts: export default'],
    [
      'a name as default',
      'src/http/a.ts',
      'const a = 1; export { a as default };',
      'default-export: src/http/a.ts: export default',
    ],
    ['a drawer of a folder', 'src/http/utils/a.ts', '', 'drawer: src/http/utils/a.ts: utils'],
    ['a drawer of a file', 'src/http/session-manager.ts', '', 'drawer: src/http/session-manager.ts: session-manager'],
    ['a drawer behind a suffix', 'src/http/a.helper.ts', '', 'drawer: src/http/a.helper.ts: a.helper'],
    ['camel case in a name', 'src/http/toolCalls.ts', '', 'kebab-case: src/http/toolCalls.ts: toolCalls'],
    ['the environment', 'src/main.ts', 'process.env.A;', 'environment: src/main.ts: process.env outside config/'],
    [
      'the environment by index',
      'src/main.ts',
      "process['env'].A;",
      'environment: src/main.ts: process.env outside config/',
    ],
    [
      'the environment by import',
      'src/main.ts',
      "import { env as e } from 'node:process';",
      'environment: src/main.ts: process.env outside config/',
    ],
    [
      'the environment by pattern',
      'src/main.ts',
      'const { env } = process;',
      'environment: src/main.ts: process.env outside config/',
    ],
    ['forwardRef', 'src/http/a.ts', 'Inject(forwardRef(() => A));', 'forward-ref: src/http/a.ts: forwardRef'],
    [
      'a clock in pure code',
      'src/domain/a.ts',
      'new Date();',
      'hidden-clock: src/domain/a.ts: Date without an argument',
    ],
    [
      'a clock in a core',
      'src/policy/core/a.ts',
      'Date();',
      'hidden-clock: src/policy/core/a.ts: Date without an argument',
    ],
    ['a timer of its own', 'src/http/a.ts', 'setTimeout(run, ms);', 'bare-timer: src/http/a.ts: setTimeout'],
    [
      'a timer of its own by import',
      'src/http/a.ts',
      "import { setTimeout as delay } from 'node:timers/promises';",
      'bare-timer: src/http/a.ts: setTimeout',
    ],
    ['a base class', 'src/http/a.ts', 'export abstract class BaseService {}', 'base-class: src/http/a.ts: BaseService'],
    [
      'six constructor parameters',
      'src/http/a.ts',
      CLASS_OF_SIX,
      'constructor: src/http/a.ts: 6 parameters, at most 5',
    ],
    [
      'a schema that changes itself',
      'src/storage/a.ts',
      'const o = { synchronize: true };',
      'synchronize: src/storage/a.ts: must be false',
    ],
  ])('shows %s', (_, file, text, finding) => {
    expect(findingsOf(file, text)).toEqual([finding]);
  });

  it.each([
    ['the index of the client', 'src/client/index.ts', "export * from './contract/problem.js';"],
    ['the environment in config/', 'src/config/a.ts', 'process.env.A;'],
    [
      'another object with an env',
      'src/http/a.ts',
      "settings.env; const { env } = settings; import { env as e } from './a.js';",
    ],
    ['a time made from an argument', 'src/domain/a.ts', 'new Date(ms);'],
    ['a word inside a name', 'src/storage/rows/data-key.row.ts', 'export const a = 1;'],
    ['a re-export beside code', 'src/http/a.ts', "export { b } from './b.js'; export const a = 1;"],
    ['five constructor parameters', 'src/http/a.ts', CLASS_OF_SIX.replace(', f: 1', '')],
  ])('lets %s pass', (_, file, text) => {
    expect(findingsOf(file, text)).toEqual([]);
  });
});
