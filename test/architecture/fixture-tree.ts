import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const repository = fileURLToPath(new URL('../..', import.meta.url));

/** One violated rule: the rule's name, the file that imports, and what it imports (equal to `from` for a lone file). */
export interface Violation {
  readonly rule: string;
  readonly from: string;
  readonly to: string;
}

interface CruiseOutput {
  readonly summary: {
    readonly totalCruised: number;
    readonly violations: readonly { from: string; to: string; rule: { name: string } }[];
  };
}

/** A source tree in a temporary directory, cruised with the repository's own rules. Remove it when done. */
export class FixtureTree {
  private constructor(readonly root: string) {}

  /** `files` maps a path such as `src/http/a.ts` to the file's text. */
  static async write(files: Readonly<Record<string, string>>): Promise<FixtureTree> {
    const tree = new FixtureTree(await mkdtemp(path.join(tmpdir(), 'source-tree-')));
    await symlink(path.join(repository, 'node_modules'), path.join(tree.root, 'node_modules'));
    await symlink(path.join(repository, 'package.json'), path.join(tree.root, 'package.json'));
    await writeFile(
      path.join(tree.root, 'tsconfig.json'),
      JSON.stringify({ extends: path.join(repository, 'tsconfig.json') }),
    );
    for (const [name, text] of Object.entries(files)) {
      const file = path.join(tree.root, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, text);
    }
    return tree;
  }

  /** Every violation that `npm run arch` would report for this tree. */
  async violations(): Promise<Violation[]> {
    const { summary } = await cruise(this.root);
    return summary.violations.map(({ from, to, rule }) => ({ rule: rule.name, from, to: shortName(to) }));
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}

function cruise(root: string): Promise<CruiseOutput> {
  const program = path.join(repository, 'node_modules/dependency-cruiser/bin/dependency-cruise.mjs');
  const rules = path.join(repository, '.dependency-cruiser.cjs');
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [program, 'src', '--config', rules, '--output-type', 'json'],
      { cwd: root, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (stdout === '') reject(error ?? new Error(stderr));
        else resolve(JSON.parse(stdout) as CruiseOutput);
      },
    );
  });
}

/** `../../x/node_modules/undici/index.js` -> `undici`; everything else as it is. */
function shortName(to: string): string {
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)(?:\/.*)?$/u.exec(to);
  return inPackage?.[1] ?? to.replace(/^node:/u, '');
}
