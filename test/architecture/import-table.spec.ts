import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FixtureTree, type Violation } from './fixture-tree.js';

/**
 * The table of the architecture document, written a second time and folder by folder, so that a slip in the rules shows
 * as a wrong cell here. `cores` stands for ledger/core, policy/core and proxy/core.
 */
const TABLE = `
  domain       | -
  client       | -
  ledger/core  | domain
  policy/core  | domain
  proxy/core   | domain
  config       | domain cores
  system       | domain cores config
  egress       | domain cores config system
  storage      | domain cores config system
  secrets      | domain cores config system storage egress
  identity     | domain cores config system storage egress secrets
  capabilities | domain cores config system storage egress
  policy       | domain cores config system storage egress secrets identity capabilities
  outbox       | domain cores config system storage egress secrets
  ledger       | domain cores config system storage egress secrets
  sessions     | domain cores config system storage
  contracts    | domain cores config system storage sessions
  proxy        | domain cores config system storage egress secrets capabilities policy
  control      | domain cores config system storage secrets identity capabilities policy sessions contracts
  runtime      | domain cores config system storage identity
  http         | domain cores config system identity capabilities policy sessions contracts ledger control runtime client/contract
  mcp          | domain cores config system identity capabilities policy control runtime client/contract
  console      | cores config system identity control runtime client/contract
  cli          | domain cores config system storage secrets identity capabilities policy ledger client client/contract
`;
const CORES = ['ledger/core', 'policy/core', 'proxy/core'];

const allowed = new Map<string, ReadonlySet<string>>(
  TABLE.trim()
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([folder = '', row = '']) => [folder, new Set(row.split(' ').flatMap((w) => (w === 'cores' ? CORES : w)))]),
);
const folders = [...allowed.keys()];

function leafOf(folder: string): string {
  return `src/${folder}/leaf.ts`;
}

/** The three imports that are within one top-level folder: a parent may use its core, as any folder below it may. */
function isInside(from: string, to: string): boolean {
  return from === to || to.startsWith(`${from}/`);
}

async function treeOfEveryImport(): Promise<FixtureTree> {
  const targets = [...folders.map(leafOf), 'src/client/contract/problem.ts'];
  const files = Object.fromEntries(targets.map((file) => [file, 'export const leaf = 1;\n']));
  for (const folder of folders) {
    const up = '../'.repeat(folder.split('/').length);
    const lines = targets.map(
      (file, n) => `import { leaf as leaf${n} } from '${up}${file.slice('src/'.length).replace('.ts', '.js')}';`,
    );
    const uses = targets.map((_, n) => `leaf${n}`).join(', ');
    files[`src/${folder}/probe.ts`] = `${lines.join('\n')}\nexport const probe = [${uses}];\n`;
  }
  return FixtureTree.write(files);
}

describe('The import table', () => {
  let tree: FixtureTree;
  let violations: readonly Violation[];

  beforeAll(async () => {
    tree = await treeOfEveryImport();
    violations = await tree.violations();
  });

  afterAll(() => tree.remove());

  function refusedFor(folder: string): string[] {
    const rule = `imports-of-${folder.replace('/', '-')}`;
    return violations.filter((v) => v.rule === rule && v.from === `src/${folder}/probe.ts`).map((v) => v.to);
  }

  it.each(folders)('lets %s/ import exactly what its row names, and refuses every other folder', (folder) => {
    const row = allowed.get(folder) ?? new Set();
    const expected = folders.filter((other) => !isInside(folder, other) && !row.has(other)).map(leafOf);
    const contract = folder === 'client' || row.has('client/contract') ? [] : ['src/client/contract/problem.ts'];
    expect(refusedFor(folder).toSorted()).toEqual([...expected, ...contract].toSorted());
  });

  it('sees a type-only import, a re-export and an import() too', async () => {
    const other = await FixtureTree.write({
      'src/storage/a.ts': 'export interface A { a: 1 }\nexport const a = 1;\n',
      'src/config/type.ts': "import type { A } from '../storage/a.js';\nexport type B = A;\n",
      'src/config/re-export.ts': "export { a } from '../storage/a.js';\n",
      'src/config/dynamic.ts': "export const load = () => import('../storage/a.js');\n",
    });
    const found = await other.violations();
    await other.remove();
    expect(
      found
        .filter((v) => v.rule === 'imports-of-config')
        .map((v) => v.from)
        .toSorted(),
    ).toEqual(['src/config/dynamic.ts', 'src/config/re-export.ts', 'src/config/type.ts']);
  });
});
