import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { repository } from './fixture-tree.js';

async function readJson(name: string): Promise<Record<string, Record<string, unknown>>> {
  return JSON.parse(await readFile(path.join(repository, name), 'utf8')) as Record<string, Record<string, unknown>>;
}

describe('The repository', () => {
  it('has at its top what a reader looks for', async () => {
    expect(await readdir(repository)).toEqual(
      expect.arrayContaining([
        'CHANGELOG.md',
        'CONTRIBUTING.md',
        'LICENSE',
        'README.md',
        'config',
        'docs',
        'examples',
        'migrations',
        'nest-cli.json',
        'package.json',
        'src',
        'test',
      ]),
    );
  });

  it('pins every direct dependency to one exact version', async () => {
    const { dependencies, devDependencies, overrides } = await readJson('package.json');
    const versions = Object.entries({ ...dependencies, ...devDependencies, ...overrides });
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+$/u.test(String(version)))).toEqual([]);
  });

  it('names no registry in its lock file, so that any mirror can serve it', async () => {
    const { packages } = await readJson('package-lock.json');
    const places = Object.values(packages ?? {}).map((entry) => (entry as { resolved?: string }).resolved);
    expect(places.filter((place) => place !== undefined)).toEqual([]);
  });
});
