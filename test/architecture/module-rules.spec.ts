import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FixtureTree, type Violation } from './fixture-tree.js';

const WIRE = ['http', 'https', 'http2', 'net', 'tls', 'dns', 'dns/promises', 'dgram', 'child_process'];

function importing(...names: string[]): string {
  return names.map((name, n) => `import * as m${n} from '${name}';\nexport const v${n} = m${n};\n`).join('');
}

/** A tree where each file breaks the rule that its path says, and nothing else. */
const BROKEN = {
  'src/domain/framework.ts': importing('@nestjs/common'),
  'src/domain/files.ts': importing('node:fs'),
  'src/domain/schema.ts': importing('zod'),
  'src/ledger/core/timers.ts': importing('node:timers'),
  'src/other/core/leaf.ts': importing('../../config/leaf.js'),
  'src/policy/core/parent.ts': importing('../beside.js'),
  'src/policy/beside.ts': 'export const beside = 1;\n',
  'src/config/leaf.ts': 'export const leaf = 1;\n',
  'src/proxy/driver.ts': importing('typeorm', 'better-sqlite3'),
  'src/main.ts': importing('better-sqlite3'),
  'src/proxy/wire.ts': importing('undici', ...WIRE.map((name) => `node:${name}`)),
  'src/app.module.ts': importing('node:http'),
  'src/cli/eager.ts': importing('../app.module.js'),
  'src/drawer/thing.ts': importing('node:path'),
  'src/drawer/alone.ts': 'export const alone = 1;\n',
  'src/stray.ts': 'export const stray = 1;\n',
  'src/system/a.ts': importing('./b.js'),
  'src/system/b.ts': importing('./c.js'),
  'src/system/c.ts': "import type { v0 } from './a.js';\nexport type C = typeof v0;\n",
  'src/system/uses-test.ts': importing('../../test/builder.js'),
  'src/system/uses-spec.ts': importing('./some.spec.js'),
  'src/system/some.spec.ts': 'export const some = 1;\n',
  'src/system/uses-tool.ts': importing('fast-check'),
  'src/system/uses-nothing.ts': importing('./nowhere.js'),
  'test/builder.ts': 'export const builder = 1;\n',
};

const KEPT = {
  'src/domain/digest.ts': importing('node:crypto'),
  'src/domain/digest.spec.ts': importing('node:fs', 'fast-check', '@jest/globals', '../../test/builder.js'),
  'src/ledger/core/leaf.ts': importing('../../domain/digest.js', 'node:crypto'),
  'src/ledger/reader.ts': importing('./core/leaf.js', 'zod', 'node:fs'),
  'src/storage/database.ts': importing('typeorm', 'better-sqlite3', '../ledger/core/leaf.js'),
  'src/egress/http.ts': importing('undici', ...WIRE.map((name) => `node:${name}`)),
  'src/http/body.ts': importing('fastify', '../client/contract/problem.js'),
  'src/http/body.spec.ts': importing('node:http'),
  'src/client/contract/problem.ts': 'export const contract = 1;\n',
  'src/app.module.ts': importing('./storage/database.js', './http/body.js', './egress/http.js'),
  'src/main.ts': importing('node:http', './app.module.js'),
  'src/cli/start.ts': "export const start = () => import('../app.module.js');\n",
  'test/builder.ts': 'export const builder = 1;\n',
};

describe('The rules about modules', () => {
  let broken: FixtureTree;
  let violations: readonly Violation[];

  beforeAll(async () => {
    broken = await FixtureTree.write(BROKEN);
    violations = await broken.violations();
  });

  afterAll(() => broken.remove());

  function broke(rule: string): string[] {
    return violations
      .filter((v) => v.rule === rule)
      .map((v) => (v.from === v.to ? v.from : `${v.from} -> ${v.to}`))
      .toSorted();
  }

  it('keep pure code from every module but node:crypto', () => {
    expect(broke('pure-code-imports-no-module')).toEqual([
      'src/domain/files.ts -> fs',
      'src/domain/framework.ts -> @nestjs/common',
      'src/domain/schema.ts -> zod',
      'src/ledger/core/timers.ts -> timers',
    ]);
  });

  it('keep every folder named core/ from what is not pure, whatever its parent may import', () => {
    expect(broke('core-imports-only-pure-code')).toEqual([
      'src/other/core/leaf.ts -> src/config/leaf.ts',
      'src/policy/core/parent.ts -> src/policy/beside.ts',
    ]);
  });

  it('leave database drivers to storage/', () => {
    expect(broke('only-storage-knows-a-driver')).toEqual([
      'src/main.ts -> better-sqlite3',
      'src/proxy/driver.ts -> better-sqlite3',
      'src/proxy/driver.ts -> typeorm',
    ]);
  });

  it('leave connections and child processes to egress/', () => {
    expect(broke('only-egress-opens-a-connection')).toEqual(
      ['src/app.module.ts -> http', ...['undici', ...WIRE].map((name) => `src/proxy/wire.ts -> ${name}`)].toSorted(),
    );
  });

  it('let cli/ reach the application by import() only', () => {
    expect(broke('cli-loads-the-application-dynamically')).toEqual(['src/cli/eager.ts -> src/app.module.ts']);
  });

  it('refuse a folder or file that has no row in the table', () => {
    expect(broke('unknown-folder')).toEqual([
      'src/drawer/thing.ts -> path',
      'src/other/core/leaf.ts -> src/config/leaf.ts',
    ]);
    expect(broke('unknown-folder-alone')).toEqual(['src/drawer/alone.ts', 'src/stray.ts']);
  });

  it('refuse a cycle, one closed by a type included', () => {
    expect(broke('no-cycle')).toEqual(['src/system/a.ts -> src/system/b.ts']);
  });

  it('keep tests out of the product', () => {
    expect(broke('product-never-imports-tests')).toEqual([
      'src/system/uses-spec.ts -> src/system/some.spec.ts',
      'src/system/uses-test.ts -> test/builder.ts',
    ]);
  });

  it('keep development tools and unlisted packages out of the product', () => {
    expect(broke('product-imports-only-dependencies')).toEqual(['src/system/uses-tool.ts -> fast-check']);
  });

  it('refuse an import that leads nowhere', () => {
    expect(broke('every-import-resolves')).toEqual(['src/system/uses-nothing.ts -> ./nowhere.js']);
  });

  it('let everything pass that the architecture allows', async () => {
    const kept = await FixtureTree.write(KEPT);
    const found = await kept.violations();
    await kept.remove();
    expect(found).toEqual([]);
  });
});
